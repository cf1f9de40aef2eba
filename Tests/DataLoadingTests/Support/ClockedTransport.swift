// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// Records the start of each attempt of a scripted transport with its instant.
final class ClockedTransport: Transport {
    /// One attempt's start.
    struct Start: Sendable {
        let at: Duration
        let path: String
        let host: String
    }

    private let clock: ManualClock
    private let inner: ScriptedTransport
    private let recorder = EventRecorder<Start>()

    init(_ inner: ScriptedTransport, clock: ManualClock) {
        self.inner = inner
        self.clock = clock
    }

    /// Every start so far.
    var starts: [Start] { recorder.elements }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        recorder.record(
            Start(
                at: clock.elapsed, path: attempt.url.path, host: attempt.url.host() ?? ""))
        return inner.start(attempt, sink: sink)
    }

    func reset() async { await inner.reset() }

    func shutDown() async { await inner.shutDown() }
}
