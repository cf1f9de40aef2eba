// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// One update of a store: it can be cancelled until it begins, and not while it writes.
struct StoreUpdate: Sendable {
    typealias Body = @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?

    private enum Phase {
        case waiting
        case begun(Task<OAuthCredentials?, any Error>)
        case over
    }

    private let body: Body
    private let phase = Locked(Phase.waiting)
    private let beginning: AsyncStream<Void>
    private let begins: AsyncStream<Void>.Continuation

    /// The time within which a store must call `body`: a file's lock takes up to 60 s.
    static let startTimeout = Duration.seconds(90)

    private init(_ body: @escaping Body) {
        self.body = body
        (beginning, begins) = AsyncStream.makeStream()
    }

    /// Updates `store`; throws when `body` does, when the store fails, and when it does not begin.
    ///
    /// Cancelling the task cancels `body`, but not the write that follows it.
    static func run(
        on store: any OAuthCredentialStore, _ timerQueue: TimerQueue, forLogOut: Bool = false,
        _ body: @escaping Body
    ) async throws {
        let update = StoreUpdate(body)
        let task = Task {
            defer { update.begins.finish() }
            guard forLogOut else { return try await store.update { try await update.begin($0) } }
            try await store.updateForLogOut { try await update.begin($0) }
        }
        let beginning = update.beginning
        let hasBegun: Void? = try? await timerQueue.within(startTimeout) {
            for await _ in beginning {}
        }
        guard hasBegun != nil || !update.giveUp() else {
            task.cancel()
            try Task.checkCancellation()
            throw AuthorisationError.store(reason: "no answer in 90 seconds")
        }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            update.cancel()
        }
    }

    private func begin(_ read: OAuthCredentials?) async throws -> OAuthCredentials? {
        let work = phase.withLock { phase -> Task<OAuthCredentials?, any Error>? in
            guard case .waiting = phase else { return nil }
            let work = Task { [body] in try await body(read) }
            phase = .begun(work)
            return work
        }
        begins.finish()
        // A second call of `body` would refresh once more.
        guard let work else { throw CancellationError() }
        // A store that is cancelled, or has lost its lock, does not end what was sent: it has cost
        // a refresh token. Only `cancel` does, at a log-out.
        return try await work.value
    }

    /// Ends an update that has not begun; false when it has.
    private func giveUp() -> Bool {
        phase.withLock { phase in
            guard case .waiting = phase else { return false }
            phase = .over
            return true
        }
    }

    private func cancel() {
        phase.withLock { phase in
            if case .begun(let work) = phase { work.cancel() }
        }
    }
}
