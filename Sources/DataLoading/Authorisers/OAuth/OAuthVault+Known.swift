// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension OAuthVault {
    /// Counts log-outs: what was begun before one is not kept after it.
    struct Epoch: Equatable, Sendable {
        var number = 0
    }

    /// What this process knows of the store.
    struct Known: Sendable {
        var epoch = Epoch()
        /// What was read or written last.
        var stored: OAuthCredentials?
        /// The newest, written or not.
        var newest: OAuthCredentials?
        /// What is not to be used again, though it may not have been deleted.
        var disowned: OAuthCredentials?
        /// Whether a log out could not read what the store has: it is not to be used, whatever it is.
        var disownsUnseen = false

        /// Notes what is newest, or that there is nothing; false when there was a log-out since.
        mutating func note(_ credentials: OAuthCredentials?, of epoch: Epoch) -> Bool {
            guard epoch == self.epoch else { return false }
            if credentials == nil {
                disowned = newest ?? disowned
                stored = nil
            }
            newest = credentials
            return true
        }

        /// Whether nothing has come since a log out.
        func hasNothing(since epoch: Epoch) -> Bool { epoch == self.epoch && newest == nil }

        /// Notes what the store has; returns what a log out has missed of it.
        mutating func see(_ read: OAuthCredentials?) -> OAuthCredentials? {
            guard disownsUnseen else { return nil }
            disownsUnseen = false
            disowned = read ?? disowned
            return read
        }

        /// Notes that nothing is left of what was disowned.
        mutating func hasReplaced(with credentials: OAuthCredentials?) {
            stored = credentials
            disowned = nil
            disownsUnseen = false
        }
    }
}
