// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

extension CredentialRecord {
    /// A credential that can be used until it expires.
    struct Issued: Sendable {
        let credential: Credential
        let stamp: CredentialStamp
        let expiry: Instant
        /// The instant from which a newer one is fetched.
        var renewal: Instant
        /// Whether a server has refused it; it is then used only when no other one is available.
        var isDoubted = false

        init(
            _ fetched: Fetched<Credential>, _ stamp: CredentialStamp, _ rules: CredentialRules,
            now: Instant
        ) {
            credential = fetched.credential
            self.stamp = stamp
            let lifetime = fetched.lifetime
            expiry = lifetime.map { now + $0 } ?? .distantFuture
            let margin = lifetime.map { min(rules.renewalMargin, $0 / 10) } ?? .zero
            renewal = lifetime == nil ? .distantFuture : expiry + (.zero - margin)
        }
    }

    /// One call of the function that gets credentials.
    struct Fetch: Sendable {
        let number: Int
        /// The newest credential, from which the fetch starts; nil when it is invalid.
        let seed: Credential?
        /// The newest credential's version when the fetch began.
        let version: Int
        /// Whether loads use the present credential during the fetch, except those refused with it.
        var allowsUse: Bool
        /// Whether the fetch has reported that its seed is invalid.
        var endsSeed = false
    }

    /// The answer to a request for authorisation.
    enum Answer: Sendable {
        case use(Issued)
        case wait
        case fail(any Error)
    }
}
