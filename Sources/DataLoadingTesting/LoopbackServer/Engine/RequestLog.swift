// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Writes the record of one request; only the connection's thread uses it.
final class RequestLog {
    private let recorder: Recorder
    private let number: Int
    private let bodyLimit: Int
    private let initial: RecordedRequest
    private var isSettled = false

    init(recorder: Recorder, request: RecordedRequest, bodyLimit: Int) {
        self.recorder = recorder
        self.bodyLimit = max(0, bodyLimit)
        initial = request
        number = recorder.record(reaching: .heads) { state in
            state.connections.update(request.connection) { $0.requestCount += 1 }
            let number = state.requests.count
            state.requests.append(request)
            return number
        }
    }

    /// The request as far as it was read.
    var request: RecordedRequest {
        recorder.read { $0.requests.record(number) } ?? initial
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        recorder.record { state in
            state.requests.update(number) { request in
                request.bodyLength += Int64(bytes.count)
                request.body.append(contentsOf: bytes.prefix(bodyLimit - request.body.count))
            }
        }
    }

    /// Ends the record: the body was read to its end, or no more of it will be read.
    func settle(isComplete: Bool, trailers: HTTPHeaders = [:]) {
        guard !isSettled else { return }
        isSettled = true
        recorder.record(reaching: .requests) { state in
            state.requests.update(number) { request in
                request.isComplete = isComplete
                request.trailers = trailers
            }
        }
    }
}
