// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// A transport without a wire: it keeps its attempts until it is told to answer them.
final class HeldTransport: Transport {
    private let sinks = Mutex<[any TransportSink]>([])
    private let head: ResponseHead
    private let body: Data

    init(bodySize: Int) {
        // What a server of static files says.
        head = ResponseHead(
            status: .ok,
            headers: [
                "Server": "nginx/1.22.1", "Date": "Tue, 02 Sep 2025 10:00:00 GMT",
                "Content-Type": "application/octet-stream", "Content-Length": "\(bodySize)",
                "Last-Modified": "Tue, 02 Sep 2025 09:00:00 GMT", "Connection": "keep-alive",
                "ETag": "\"68b6b9a0-400\"", "Accept-Ranges": "bytes",
            ])
        body = Data(repeating: UInt8(ascii: "x"), count: bodySize)
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        sinks.withLock { $0.append(sink) }
        return Self.task
    }

    /// Answers every attempt that has started.
    func answerAll() {
        let waiting = sinks.withLock { sinks in
            defer { sinks.removeAll(keepingCapacity: true) }
            return sinks
        }
        for sink in waiting {
            sink.didReceive(head)
            sink.didReceive(body)
            sink.didEnd(TransportEnd())
        }
    }

    func reset() async {}

    func shutDown() async {}

    private static let task = NoTask()
}

/// A handle on what cannot be stopped.
private final class NoTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}
