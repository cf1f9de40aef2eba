// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension StoredCredentials {
    /// Counts log-outs: credentials that were requested before one are not stored after it.
    struct Epoch: Equatable, Sendable {
        var number = 0
    }

    /// The content of the store as this process last saw or wrote it.
    struct State: Sendable {
        private(set) var epoch = Epoch()
        /// The last seen content of the store; nil when the authoriser may not use it.
        private var stored: OAuthCredentials?
        /// The newest credentials, written or not.
        private(set) var newest: OAuthCredentials?
        /// Whether another process has emptied the store of what `newest` was to replace.
        ///
        /// That may have been a log-out. `newest` is then kept in memory and not written: once it
        /// has been refreshed, the server has not revoked it.
        private var isNewestDeleted = false
        /// Credentials that must not be used again but may still be stored.
        private var revoked: OAuthCredentials?
        /// Whether a log-out could not read the store; its content must then not be used.
        private var revokesUnread = false
        /// Whether a log-out has not emptied the store yet.
        private(set) var isLogOutPending = false

        /// Whether the store lacks the newest credentials, or may have credentials to delete.
        var differsFromStore: Bool {
            let isWritten = newest.map { $0.hasTokens(of: stored) } ?? (stored == nil)
            return !isWritten && !isNewestDeleted || revoked != nil || revokesUnread
        }

        /// Begins a log-out.
        mutating func beginLogOut() {
            epoch.number += 1
        }

        /// Records the newest credentials, or nil for none; returns false after a later log-out.
        mutating func record(_ credentials: OAuthCredentials?, of epoch: Epoch) -> Bool {
            guard epoch == self.epoch else { return false }
            if credentials == nil {
                revoked = newest ?? revoked
                stored = nil
            }
            newest = credentials
            isNewestDeleted = false
            return true
        }

        /// Records a log-out that found these credentials; nil when none are the authoriser's.
        mutating func logOut(finding found: OAuthCredentials?, of epoch: Epoch) {
            if found != nil { newest = found }
            revokesUnread = false
            isLogOutPending = true
            _ = record(nil, of: epoch)
        }

        /// Records a log-out that could not read the store.
        mutating func logOutWithoutReading(of epoch: Epoch) {
            revokesUnread = true
            isLogOutPending = true
            _ = record(nil, of: epoch)
        }

        /// Returns, once, credentials that a log-out could not read and revoke.
        ///
        /// `deletable` is the store's content; nil when a log-out must not delete it.
        mutating func takeUnread(_ deletable: OAuthCredentials?) -> OAuthCredentials? {
            guard revokesUnread else { return nil }
            revokesUnread = false
            guard let deletable, !isRevoked(deletable) else { return nil }
            revoked = deletable
            return deletable
        }

        /// Compares the content, nil when the authoriser may not use it, with the recorded one.
        mutating func compare(_ own: OAuthCredentials?) -> Comparison {
            let usable = isRevoked(own) ? nil : own
            let isUnchanged = usable.map { $0.hasTokens(of: stored) } ?? (stored == nil)
            guard !isUnchanged else { return .unchanged(newest: newest) }
            let isNewestUnwritten = newest.map { !$0.hasTokens(of: stored) } ?? false
            stored = usable
            isNewestDeleted = usable == nil && isNewestUnwritten
            if isNewestDeleted { return .unchanged(newest: newest) }
            newest = usable
            return usable.map { .replaced($0) } ?? .deleted
        }

        /// The content to write in the place of `read`; `read` itself when it may stay.
        func desiredContent(for read: OAuthCredentials?) -> OAuthCredentials? {
            if let newest, !isNewestDeleted { return newest.hasTokens(of: read) ? read : newest }
            return isRevoked(read) ? nil : read
        }

        /// Records the content after an update; nil when the authoriser may not use it.
        mutating func didStore(_ own: OAuthCredentials?) {
            stored = own
            revoked = nil
            isLogOutPending = false
        }

        private func isRevoked(_ credentials: OAuthCredentials?) -> Bool {
            revoked.map { $0.hasTokens(of: credentials) } ?? false
        }
    }
}
