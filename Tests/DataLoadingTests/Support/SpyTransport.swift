// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// Passes everything on to another transport and notes when an attempt is paused or resumed.
final class SpyTransport: Transport {
    private let next: any Transport
    private let flow: EventRecorder<Bool>

    init(_ next: any Transport) {
        self.next = next
        flow = EventRecorder()
    }

    /// Returns once there were so many pauses and resumes; true stands for a pause.
    func flowChanges(_ count: Int) async -> [Bool] { await flow.first(count) }

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        Spy(next.start(attempt, sink: sink), flow)
    }

    func reset() async { await next.reset() }

    func shutDown() async { await next.shutDown() }

    private final class Spy: TransportTask {
        private let task: any TransportTask
        private let flow: EventRecorder<Bool>

        init(_ task: any TransportTask, _ flow: EventRecorder<Bool>) {
            self.task = task
            self.flow = flow
        }

        func cancel() { task.cancel() }

        func pause() {
            task.pause()
            flow.record(true)
        }

        func resume() {
            task.resume()
            flow.record(false)
        }
    }
}
