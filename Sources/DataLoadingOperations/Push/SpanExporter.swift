// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Sends the spans of attempts and loads; any thread may add one.
///
/// While nothing waits there is no timer, so that an idle daemon is not woken.
final class SpanExporter: AttemptListener {
    private let collector: Collector
    private let url: URL
    private let resource: [Label]
    private let drops: TelemetryDrops
    private let queue = Locked(SpanQueue())
    /// The wait for more spans, which keeps this object.
    private let wait = Locked<TimerQueue.Entry?>(nil)

    init(_ collector: Collector, _ url: URL, of resource: [Label], _ drops: TelemetryDrops) {
        self.collector = collector
        self.url = url
        self.resource = resource
        self.drops = drops
    }

    /// The number of spans that wait.
    var waiting: Int { queue.withLock { $0.count } }

    func attemptEnded(_ attempt: AttemptRecord) {
        if let span = AttemptSpan(attempt) { add(.attempt(span)) }
    }

    func add(_ span: ExportedSpan) {
        let (step, dropped) = queue.withLock { $0.append(span) }
        if dropped != nil { drops.add(1, of: .traces) }
        perform(step)
    }

    func start() { queue.withLock { $0.open() } }

    /// Sends what waits, and takes no more.
    func sendRest() async {
        queue.withLock { $0.close() }
        endWait()
        while await sendBatch() != .empty {}
    }

    private func perform(_ step: SpanQueue.Step) {
        switch step {
        case .nothing: break
        case .wait:
            let timer = collector.timerQueue
            let entry = timer.schedule(at: timer.now + SpanQueue.delay, for: self, tag: 0)
            wait.withLock { $0 = entry }
            if queue.withLock({ $0.isClosed }) { endWait() }
        case .send:
            Task {
                let wasTaken = await sendBatch() != .refused
                perform(queue.withLock { $0.batchEnded(wasTaken: wasTaken) })
            }
        }
    }

    private func endWait() {
        if let entry = wait.withLock({ $0.take() }) { collector.timerQueue.cancel(entry) }
    }

    /// What became of a batch; no spans are an empty one.
    private enum Batch {
        case empty
        case taken
        case refused
    }

    /// Sends the oldest spans.
    private func sendBatch() async -> Batch {
        let batch = queue.withLock { $0.takeBatch() }
        guard !batch.isEmpty else { return .empty }
        let bytes = ExportedSpan.bytes(of: batch, resource)
        let dropped = await collector.send(bytes, of: batch.count, to: url)
        drops.add(dropped, of: .traces)
        return dropped < batch.count ? .taken : .refused
    }
}

extension SpanExporter: TimerTarget {
    func timerFired(_ tag: Int) { perform(queue.withLock { $0.waitIsOver() }) }
}
