// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Keeps a lock while something is done, which continues when the lock cannot be kept.
struct LockHold: Sendable {
    /// Asks the server to renew the lock; returns whether it was still there.
    typealias Renewal = @Sendable () async throws -> Bool

    let timerQueue: TimerQueue
    let times: LockTimes

    /// Runs `body` while the lock is renewed; returns its value, or throws its error.
    ///
    /// The loss of the lock does not cancel it: a refresh that was sent has cost a refresh token,
    /// and the write decides whether it is too late for the new one. `taken` is when the lock was
    /// asked for. When that is too long ago, it throws `AuthorisationError.store` without calling
    /// `body`.
    func run<Output: Sendable>(
        since taken: Instant, renewing renew: @escaping Renewal,
        _ body: @Sendable () async throws -> Output
    ) async throws -> Output {
        guard timerQueue.now < taken + times.trust else {
            throw AuthorisationError.store(reason: "the lock was lost")
        }
        // No child task: a caller that is cancelled keeps its lock while the refresh runs.
        let keeper = Task { await renewUntilLost(since: taken, renew) }
        let result: Result<Output, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        keeper.cancel()
        await keeper.value
        return try result.get()
    }

    /// Renews the lock until it is lost or the task is cancelled.
    private func renewUntilLost(since taken: Instant, _ renew: @escaping Renewal) async {
        var end = taken + times.trust
        var pause = times.renewal
        while timerQueue.now < end {
            try? await timerQueue.sleep(for: min(pause, end - timerQueue.now))
            if Task.isCancelled { return }
            let asked = timerQueue.now
            guard asked < end else { return }
            // A server that is silent has no longer than the lock counts as kept.
            let answer = try? await timerQueue.within(end - asked, renew)
            if Task.isCancelled || answer == false { return }
            if answer == true { end = asked + times.trust }
            pause = answer == true ? times.renewal : times.retry
        }
    }
}
