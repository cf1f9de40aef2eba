// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// An update of a store whose lock does not last.
@Suite(.timeLimit(.minutes(15))) struct StoreUpdateTests {
    /// A store that cancels the task in which it has a refresh done.
    private final class CancellingStore: OAuthCredentialStore {
        func load() async -> OAuthCredentials? { nil }

        func update(
            _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
        ) async throws {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await body(nil)
        }
    }

    // The server has perhaps taken the refresh token, and its answer is the only valid one.
    @Test func `a store that cancels its task does not end the refresh`() async throws {
        let timerQueue = TimerQueue(timekeeper: ManualClock().timekeeper)
        let isCancelled = Locked<Bool?>(nil)
        try await StoreUpdate.run(on: CancellingStore(), timerQueue) { _ in
            for _ in 0..<1_000 { await Task.yield() }
            let isOver = Task.isCancelled
            isCancelled.withLock { $0 = isOver }
            return nil
        }
        #expect(isCancelled.withLock { $0 } == false)
    }
}
