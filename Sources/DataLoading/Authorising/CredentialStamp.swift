// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport

/// Identifies the credential of an authoriser with which a request was sent.
package struct CredentialStamp: Hashable, Sendable {
    /// The number of resets of the authoriser.
    let generation: Int
    /// The number of its credentials.
    let version: Int

    package init(generation: Int, version: Int) {
        self.generation = generation
        self.version = version
    }
}

/// The stamps of a request's credentials, by authoriser.
///
/// Before the request is authorised again, they are the stamps that a 401 refused.
package enum CredentialStamps: RequestOption, NeutralOption {
    package static var defaultValue: [ObjectIdentifier: CredentialStamp] { [:] }
}

/// The earliest expiry of a request's credentials.
package enum AuthorisedUntil: RequestOption, NeutralOption {
    /// Nil: unknown or never.
    package static var defaultValue: Instant? { nil }
}
