// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What the delegate is told of a store, and when.
@Suite(.timeLimit(.minutes(15))) struct StoreComplaintTests {
    /// A store whose writes fail, and that knows whether it is locked.
    private final class GuardedStore: OAuthCredentialStore {
        let isUpdating = Locked(false)
        let failsBefore = Locked(false)
        private let kept: Locked<OAuthCredentials?>

        init(_ credentials: OAuthCredentials?) {
            kept = Locked(credentials)
        }

        func load() async -> OAuthCredentials? { kept.withLock { $0 } }

        func update(
            _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
        ) async throws {
            isUpdating.withLock { $0 = true }
            defer { isUpdating.withLock { $0 = false } }
            if failsBefore.withLock({ $0 }) { throw AuthorisationError.store(reason: "no lock") }
            _ = try await body(await load())
            throw TestFailure()
        }
    }

    /// A delegate that looks whether the store is locked while it is called.
    private final class Observer: OAuthDelegate {
        let store: GuardedStore
        let calls = EventRecorder<(isUpdating: Bool, error: any Error)>()

        init(_ store: GuardedStore) {
            self.store = store
        }

        func couldNotKeepCredentials(_ error: any Error) {
            calls.record((store.isUpdating.withLock { $0 }, error))
        }
    }

    private func authoriser(
        _ test: OAuthBed, _ store: GuardedStore, _ delegate: Observer
    ) -> OAuthAuthoriser {
        OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(test.provider.endpoints), flow: .deviceCode,
                clientIdentifier: "client", hosts: ["origin.test"]),
            service: test.bed.service, store: store, delegate: delegate)
    }

    private func expired(_ test: OAuthBed) -> OAuthCredentials {
        test.provider.state.withLock { state in
            state.families["refresh-0"] = 7
            state.currentRefresh[7] = "refresh-0"
        }
        return OAuthCredentials(
            accessToken: "old", refreshToken: "refresh-0", lifetime: .zero,
            received: test.clock.date)
    }

    @Test func `a delegate is told of a failed write when the store is no longer locked`()
        async throws
    {
        let test = OAuthBed()
        let store = GuardedStore(expired(test))
        let delegate = Observer(store)
        let authoriser = authoriser(test, store, delegate)
        try await authoriser.logIn()
        #expect(test.provider.asked("refresh_token") == 1)
        let call = await delegate.calls.first(1)[0]
        #expect(!call.isUpdating)
        #expect(call.error is TestFailure)
        await authoriser.reset()
        #expect(await delegate.calls.first(2).allSatisfy { !$0.isUpdating })
    }

    // Otherwise a program learns of a disk that has become read-only when its token has expired.
    @Test func `a delegate is told of a refresh that could not lock the store`() async {
        let test = OAuthBed()
        let store = GuardedStore(expired(test))
        store.failsBefore.withLock { $0 = true }
        let delegate = Observer(store)
        let authoriser = authoriser(test, store, delegate)
        await #expect(throws: AuthorisationError.store(reason: "no lock")) {
            try await authoriser.logIn()
        }
        #expect(test.provider.asked("refresh_token") == 0)
        #expect(delegate.calls.elements.count == 1)
        #expect(delegate.calls.elements.allSatisfy { !$0.isUpdating })
    }
}
