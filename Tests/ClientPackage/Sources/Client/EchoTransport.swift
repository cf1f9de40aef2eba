// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// A transport of another package: it answers every request with its method.
struct EchoTransport: Transport {
    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let task = EchoTask()
        DispatchQueue.global().async {
            sink.didReceive(ResponseHead(status: .ok, headers: ["Content-Type": "text/plain"]))
            sink.didReceive(Data(attempt.method.rawValue.utf8))
            sink.didEnd(TransportReport())
        }
        return task
    }

    func reset() async {}

    func shutDown() async {}
}

final class EchoTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}
