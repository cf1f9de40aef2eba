// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Keeps a lock while something is done, which is cancelled when the lock cannot be kept.
struct LockHold: Sendable {
    /// Asks the server to renew the lock; returns whether it was still there.
    typealias Renewal = @Sendable () async throws -> Bool

    let timerQueue: TimerQueue
    let times: LockTimes

    /// Runs `body` while the lock is renewed, and returns its value.
    ///
    /// A value that comes after the lock was lost counts: the write decides whether it is too late.
    /// It throws the error of `body`, or `AuthorisationError.store` when the loss of the lock ended
    /// it. `taken` is when the lock was asked for.
    func run<Output: Sendable>(
        since taken: Instant, renewing renew: @escaping Renewal,
        _ body: @Sendable () async throws -> Output
    ) async throws -> Output {
        let result = Locked<Result<Output, any Error>?>(nil)
        let isLost = await runUntilLost(since: taken, renew) {
            do {
                let output = try await body()
                result.withLock { $0 = .success(output) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        switch result.withLock({ $0 }) {
        case .success(let output): return output
        case .failure(let error) where !isLost: throw error
        default: throw AuthorisationError.store(reason: "the lock was lost")
        }
    }

    /// Returns whether the lock was lost before `body` ended by itself.
    private func runUntilLost(
        since taken: Instant, _ renew: @escaping Renewal, _ body: @Sendable () async -> Void
    ) async -> Bool {
        let keeper = Task { await renewUntilLost(since: taken, renew) }
        // Leaving the scope of a child task cancels it, and waits for it.
        async let ended: Void = {
            await body()
            keeper.cancel()
        }()
        let isLost = await keeper.value
        if !isLost { await ended }
        return isLost
    }

    /// Renews the lock; returns true once it is lost, and false once the task is cancelled.
    private func renewUntilLost(since taken: Instant, _ renew: @escaping Renewal) async -> Bool {
        var end = taken + times.trust
        var pause = times.renewal
        while timerQueue.now < end {
            try? await timerQueue.sleep(for: min(pause, end - timerQueue.now))
            if Task.isCancelled { return false }
            let asked = timerQueue.now
            guard asked < end else { break }
            // A server that is silent has no longer than the lock counts as kept.
            let answer = try? await timerQueue.within(end - asked, renew)
            if Task.isCancelled { return false }
            if answer == false { break }
            if answer == true { end = asked + times.trust }
            pause = answer == true ? times.renewal : times.retry
        }
        return true
    }
}
