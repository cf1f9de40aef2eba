// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// Answers at once, and notes when each attempt began by the clock that all processes have.
final class RecordingTransport: Transport {
    private final class Task: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }

    private let starts = Mutex<[UInt64]>([])
    private let refused: Int

    init(refused: Int) {
        self.refused = refused
    }

    /// When attempts began, in nanoseconds.
    var instants: [UInt64] { starts.withLock { $0 } }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let now = Self.now
        let count = starts.withLock { starts in
            starts.append(now)
            return starts.count
        }
        let isRefused = count == refused
        sink.didReceive(
            ResponseHead(
                status: isRefused ? .tooManyRequests : .ok,
                headers: isRefused ? ["Retry-After": "2"] : [:]))
        sink.didEnd(TransportReport())
        return Task()
    }

    func reset() async {}

    func shutDown() async {}
}
