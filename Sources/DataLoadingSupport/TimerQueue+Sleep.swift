// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension TimerQueue {
    /// Suspends for a duration; throws `CancellationError` when the task is cancelled.
    package func sleep(for duration: Duration) async throws {
        let waker = Waker()
        let entry = schedule(at: now + duration, for: waker, tag: 0)
        await withTaskCancellationHandler {
            await waker.wait()
        } onCancel: {
            cancel(entry)
            waker.wake()
        }
        try Task.checkCancellation()
    }
}

extension Waker: TimerTarget {
    package func timerFired(_ tag: Int) { wake() }
}
