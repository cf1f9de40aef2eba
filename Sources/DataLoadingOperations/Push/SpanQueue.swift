// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The spans that wait to be sent, at most 2,048.
///
/// They are sent 512 at once, or fewer when the first of them has waited for five seconds. After a batch
/// that the collector did not take, the next one goes when a wait of five seconds ends: a collector that
/// is gone costs little.
struct SpanQueue: Sendable {
    /// What follows from a change.
    enum Step: Hashable, Sendable {
        case nothing
        /// Wait for five seconds, and then call `waitIsOver`.
        case wait
        /// Send a batch, and then call `batchEnded`.
        case send
    }

    private enum Stage: Sendable {
        case idle, open, closed
    }

    static let maxCount = 2_048
    static let batch = 512
    static let delay = Duration.seconds(5)

    private var spans = FIFO<ExportedSpan>()
    private var stage = Stage.idle
    private var isWaiting = false
    private var isSending = false
    /// Whether the last batch was not taken, and the wait after it is not over.
    private var isPausing = false

    /// The number of spans that wait.
    var count: Int { spans.count }

    var isClosed: Bool { stage == .closed }

    /// Takes spans from now on.
    mutating func open() { if case .idle = stage { stage = .open } }

    /// Adds a span, and returns the oldest one that it has displaced; those of a queue that is not
    /// open are not kept.
    mutating func append(_ span: ExportedSpan) -> (Step, dropped: ExportedSpan?) {
        guard case .open = stage else { return (.nothing, nil) }
        spans.append(span)
        guard count > Self.maxCount else { return (nextStep(), nil) }
        let oldest = spans.popFirst()
        return (nextStep(), oldest)
    }

    /// The time to wait for more spans has passed.
    mutating func waitIsOver() -> Step {
        isWaiting = false
        isPausing = false
        guard case .open = stage, !isSending, count > 0 else { return .nothing }
        isSending = true
        return .send
    }

    /// Takes the oldest spans, as many as are sent at once.
    mutating func takeBatch() -> [ExportedSpan] {
        var batch: [ExportedSpan] = []
        while batch.count < Self.batch, let span = spans.popFirst() { batch.append(span) }
        return batch
    }

    /// A batch was taken by the collector, or dropped.
    mutating func batchEnded(wasTaken: Bool) -> Step {
        isSending = false
        isPausing = !wasTaken
        return wasTaken || stage == .closed ? nextStep() : wait()
    }

    /// Takes no more spans; what waits can still be taken.
    mutating func close() { stage = .closed }

    private mutating func nextStep() -> Step {
        guard case .open = stage, !isSending, !isPausing, count > 0 else { return .nothing }
        guard count >= Self.batch else { return wait() }
        isSending = true
        return .send
    }

    private mutating func wait() -> Step {
        guard !isWaiting else { return .nothing }
        isWaiting = true
        return .wait
    }
}
