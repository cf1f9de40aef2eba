// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// The time that a task waits before it starts another load.
final class LoadPause: TimerTarget {
    private let waker = Waker()
    private let error = Locked<DataLoaderError?>(nil)

    /// Suspends until the pause is over.
    func wait() async { await waker.wait() }

    /// Throws the error that ended the pause, if any did.
    func result() throws(DataLoaderError) {
        if let error = error.withLock({ $0 }) { throw error }
    }

    /// Ends the pause early; the first error counts.
    func end(_ error: DataLoaderError) {
        self.error.withLock { $0 = $0 ?? error }
        waker.wake()
    }

    static func endAll(_ pauses: [LoadPause], as error: DataLoaderError) {
        for pause in pauses { pause.end(error) }
    }

    func timerFired(_ tag: Int) { waker.wake() }
}
