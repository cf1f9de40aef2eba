// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The result of a fetch.
struct Fetched<Credential: Sendable>: Sendable {
    let credential: Credential
    /// The lifetime from receipt; nil when the credential is valid until a server refuses it.
    let lifetime: Duration?

    init(_ credential: Credential, lifetime: Duration?) {
        self.credential = credential
        self.lifetime = lifetime
    }
}

/// A report that a running fetch sends.
enum FetchReport: Sendable {
    /// The fetch asks a person: loads use the present credential until it ends.
    case takesLong
    /// The issuing server refuses the doubted credential too, which must not be used again.
    case endsDoubted
    /// The issuing server refuses the credential that the fetch began with.
    case endsSeed
}
