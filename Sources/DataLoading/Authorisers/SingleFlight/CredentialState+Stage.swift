// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension CredentialState {
    /// One way to get a credential: one call of the fetch.
    struct Flight: Sendable {
        let number: Int
        let generation: Int
        /// What there was before; the version that a refusal of the flight deletes.
        let previous: Credential?
    }

    /// A credential that can be used until it expires.
    struct Issued: Sendable {
        let credential: Credential
        let version: Int
        let expiry: Instant
        /// From when on a newer one is fetched.
        var renewal: Instant
        /// Why the last attempt to renew it failed, and until when nobody sets out again.
        var setback: (error: any Error, until: Instant)?
        /// Whether it helps to get the next one: not when a server has said so.
        var helps = true
        /// Whether a server did not accept it: it is used only where no other can be had.
        var isDoubted = false

        var doubted: Issued {
            var issued = self
            issued.isDoubted = true
            return issued
        }

        /// Where the next flight starts from.
        var start: Credential? { helps ? credential : nil }
    }

    enum Stage: Sendable {
        /// Nothing to use; what there was may help to get the next one.
        case none(previous: Credential?)
        /// Nobody is answered before a flight has ended; should it fail, there may be what lasts.
        case fetching(Flight, beside: Issued?)
        /// Something to use; perhaps a flight is under way already to renew it in time.
        case ready(Issued, renewing: Flight?)
        /// A server did not accept what there is: it is used while no flight may set out, and when
        /// one has failed.
        case refused(Issued)
        /// The last flight failed; before the instant nobody sets out again.
        case backingOff(until: Instant, because: any Error, previous: Credential?)
        /// Being reset.
        case resetting
    }

    /// What becomes of a request that wants to be authorised.
    enum Answer: Sendable {
        case use(Credential, CredentialStamp)
        case wait
        case fail(any Error)
    }
}
