// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension TimerQueue {
    /// Waits for `body`, at most for `limit`; returns false when it took longer.
    ///
    /// It then cancels `body` and does not wait for it. Cancelling the waiting task does not end
    /// the wait.
    package func wait(
        atMost limit: Duration, for body: @escaping @Sendable () async -> Void
    ) async -> Bool {
        let waker = Waker()
        let isOver = Locked(false)
        let entry = schedule(at: now + limit, for: waker, tag: 0)
        let task = Task {
            await body()
            isOver.withLock { $0 = true }
            waker.wake()
        }
        await waker.wait()
        cancel(entry)
        guard isOver.withLock({ $0 }) else {
            task.cancel()
            return false
        }
        return true
    }

    /// Returns the result of `body`, or nil when it takes longer than `limit`; drops a late result.
    ///
    /// It cancels `body` at the limit, and when the waiting task is cancelled.
    package func within<Result: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        let waker = Waker()
        let result = Locked<Swift.Result<Result, any Error>?>(nil)
        let entry = schedule(at: now + limit, for: waker, tag: 0)
        let task = Task {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            waker.wake()
        }
        await withTaskCancellationHandler {
            await waker.wait()
        } onCancel: {
            waker.wake()
        }
        cancel(entry)
        guard let end = result.withLock({ $0 }) else {
            task.cancel()
            try Task.checkCancellation()
            return nil
        }
        return try end.get()
    }
}
