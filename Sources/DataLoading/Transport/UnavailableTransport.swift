// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Stands where a platform has no transport of its own yet: every attempt fails with the reason.
struct UnavailableTransport: Transport {
    private final class Task: TransportTask {
        func cancel() {}
        func pause() {}
        func resume() {}
    }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        DispatchQueue.global().async {
            let reason = "no default transport here: set Configuration.transport"
            sink.didFail(
                TransportFailure(.unsupported(reason: reason), sent: .nothingWritten))
        }
        return Task()
    }

    func reset() async {}

    func shutDown() async {}
}
