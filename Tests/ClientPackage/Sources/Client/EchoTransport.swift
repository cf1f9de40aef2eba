// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// A transport of a stranger's own: it answers every request with its method.
struct EchoTransport: Transport {
    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        let task = EchoTask()
        DispatchQueue.global().async {
            sink.didReceiveInformational(ResponseHead(status: HTTPStatus(rawValue: 103)))
            sink.didReceive(ResponseHead(status: .ok, headers: ["Content-Type": "text/plain"]))
            sink.didReceive(Data(attempt.method.rawValue.utf8))
            sink.didEnd(TransportEnd())
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
