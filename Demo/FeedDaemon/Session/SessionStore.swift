// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Keeps what a login brings for as long as the daemon runs, and says so.
///
/// A daemon of one's own has a `FileCredentialStore`, so that it is logged in after a restart.
final class SessionStore: OAuthCredentialStore {
    private let wire: Wire
    private let kept = MemoryCredentialStore()

    init(wire: Wire) {
        self.wire = wire
    }

    func load() async -> OAuthCredentials? {
        await kept.load()
    }

    func save(_ credentials: OAuthCredentials?) async {
        let isFirst = await kept.load() == nil
        await kept.save(credentials)
        if credentials == nil {
            wire.note("session", "is logged out")
        } else if isFirst {
            wire.note("session", "is logged in")
        } else {
            wire.note("session", "has a new token in the place of the one that was refused")
            wire.send(.tokenRenewed)
        }
    }
}
