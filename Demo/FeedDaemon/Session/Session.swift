// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading

/// The application's part of a login: it shows the code to the user and keeps the credentials.
///
/// They are kept in memory. A real daemon uses `FileCredentialStore`, and is then still logged in after
/// a restart. An authoriser holds its delegate weakly, so the daemon keeps this object.
final class Session: OAuthDelegate, OAuthCredentialStore {
    private let stream: EventStream
    private let kept = MemoryCredentialStore()

    init(_ stream: EventStream) {
        self.stream = stream
    }

    func show(_ code: DeviceCode) async {
        stream.note(
            "session", "waits until the user enters \(code.userCode) at \(code.verificationURL)")
    }

    func load() async -> OAuthCredentials? {
        await kept.load()
    }

    func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await kept.update { old in
            let new = try await body(old)
            if new != old { tell(isFirst: old == nil, isLast: new == nil) }
            return new
        }
    }

    private func tell(isFirst: Bool, isLast: Bool) {
        if isLast {
            stream.note("session", "is logged out")
        } else if isFirst {
            stream.note("session", "is logged in")
        } else {
            stream.note("session", "has a new token instead of the refused one")
            stream.send(.tokenRenewed)
        }
    }
}
