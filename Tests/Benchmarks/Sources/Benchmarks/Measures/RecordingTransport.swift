// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation
import Synchronization

/// A transport without a network that answers at once and notes when each attempt started.
final class RecordingTransport: Transport {
    private let instants = Mutex<[ContinuousClock.Instant]>([])
    private let queue = DispatchQueue(label: "answers")
    private static let head = ResponseHead(status: .ok, headers: ["Content-Length": "1"])
    private static let body = Data("x".utf8)

    /// When attempts started, in order.
    var starts: [ContinuousClock.Instant] {
        instants.withLock { $0 }
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        // The clock is read under the lock, so that the instants are in order.
        instants.withLock { $0.append(.now) }
        queue.async {
            sink.didReceive(Self.head)
            sink.didReceive(Self.body)
            sink.didEnd(TransportReport())
        }
        return NoTask()
    }

    func reset() async {}

    func shutDown() async {}
}
