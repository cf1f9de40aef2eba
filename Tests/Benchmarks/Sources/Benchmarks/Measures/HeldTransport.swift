// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Synchronization

/// A transport without a network: it holds its attempts until it is told to answer them.
final class HeldTransport: Transport {
    private struct Attempts {
        var sinks: [any TransportSink] = []
        var expected = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let attempts = Mutex(Attempts())
    private let head: ResponseHead
    private let body: Data

    init(bodySize: Int, _ more: HTTPHeaders = [:]) {
        // The fields that a server of static files sends.
        var headers: HTTPHeaders = [
            "Server": "nginx/1.22.1", "Date": "Tue, 02 Sep 2025 10:00:00 GMT",
            "Content-Type": "application/octet-stream", "Content-Length": "\(bodySize)",
            "Last-Modified": "Tue, 02 Sep 2025 09:00:00 GMT", "Connection": "keep-alive",
            "ETag": "\"68b6b9a0-400\"", "Accept-Ranges": "bytes",
        ]
        for field in more.fields { headers.add(field.value, for: field.name) }
        head = ResponseHead(status: .ok, headers: headers)
        body = Data(repeating: UInt8(ascii: "x"), count: bodySize)
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let complete = attempts.withLock { attempts -> CheckedContinuation<Void, Never>? in
            attempts.sinks.append(sink)
            guard attempts.sinks.count >= attempts.expected else { return nil }
            return attempts.waiter.take()
        }
        complete?.resume()
        return Self.task
    }

    /// Waits until so many attempts have started, and answers them.
    func answer(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isComplete = attempts.withLock { attempts in
                guard attempts.sinks.count < count else { return true }
                attempts.expected = count
                attempts.waiter = continuation
                return false
            }
            if isComplete { continuation.resume() }
        }
        let sinks = attempts.withLock { attempts in
            defer { attempts.sinks.removeAll(keepingCapacity: true) }
            return attempts.sinks
        }
        for sink in sinks {
            sink.didReceive(head)
            sink.didReceive(body)
            sink.didEnd(TransportReport())
        }
    }

    func reset() async {}

    func shutDown() async {}

    private static let task = NoTask()
}
