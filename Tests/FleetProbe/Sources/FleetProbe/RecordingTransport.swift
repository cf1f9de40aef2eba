// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// Answers at once, and writes when each attempt began by the clock that all processes have.
final class RecordingTransport: Transport {
    private final class Task: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }

    private let count = Atomic(0)
    private let refused: Int

    init(refused: Int) {
        self.refused = refused
    }

    /// Nanoseconds.
    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        print("start", Self.now)
        let isRefused = count.add(1, ordering: .relaxed).newValue == refused
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
