// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which credential of an authoriser a request was sent with.
struct CredentialStamp: Hashable, Sendable {
    let generation: Int
    let version: Int
}

/// The stamps with which a load was refused, and is authorised once more.
enum RefusedStamps: RequestOption {
    static var defaultValue: [ObjectIdentifier: CredentialStamp] { [:] }
}

/// The stamps of every authoriser that took part in a request.
enum CredentialStamps: RequestOption {
    static var defaultValue: [ObjectIdentifier: CredentialStamp] { [:] }
}
