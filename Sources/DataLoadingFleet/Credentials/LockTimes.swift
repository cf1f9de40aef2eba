// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How long a lock of credentials lasts, and how long is waited for it and for its server.
struct LockTimes: Sendable {
    /// How long the server keeps a lock that is not renewed: after that a dead holder has lost it.
    var life = Duration.seconds(30)
    /// How often it is renewed.
    var renewal = Duration.seconds(5)
    /// How soon a renewal that failed is tried again.
    var retry = Duration.seconds(1)
    /// How long a lock counts as kept without an answer: half of its life, by this machine's clock.
    var trust = Duration.seconds(15)
    /// The most time for taking a lock that others have: a refresh may take 30 s, and so may the end
    /// of a dead holder's lock.
    var wait = Duration.seconds(60)
    /// How long a server may be away before a lock is taken, as while it starts anew.
    var absence = Duration.seconds(10)
    /// How long new credentials are written again and again; they have cost a refresh token.
    var writing = Duration.seconds(30)
}
