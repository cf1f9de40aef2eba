// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Agenda {
    /// Waits until so much time has passed; throws `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws {
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

extension Waker: Punctual {
    func isDue(_ tag: Int) { wake() }
}
