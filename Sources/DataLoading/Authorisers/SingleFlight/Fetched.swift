// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a fetch brought.
struct Fetched<Credential: Sendable>: Sendable {
    let credential: Credential
    /// How long it lasts from its receipt; nil for until it is refused.
    let lifetime: Duration?

    init(_ credential: Credential, lifetime: Duration?) {
        self.credential = credential
        self.lifetime = lifetime
    }
}
