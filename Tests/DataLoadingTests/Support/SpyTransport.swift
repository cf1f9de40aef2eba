// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation

/// Records when the object that retains it was released.
final class Canary: Sendable {
    private let gone: EventRecorder<Void>

    init(_ gone: EventRecorder<Void>) {
        self.gone = gone
    }

    deinit {
        gone.record(())
    }
}

/// Forwards everything to another transport and records pauses and resumes.
final class SpyTransport: Transport {
    private let next: any Transport
    private let canary: Canary?
    private let flow: EventRecorder<Bool>

    init(_ next: any Transport, canary: Canary? = nil) {
        self.next = next
        self.canary = canary
        flow = EventRecorder()
    }

    /// Returns once there were this many pauses and resumes; true is a pause.
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
