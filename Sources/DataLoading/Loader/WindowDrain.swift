// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A window that one block at a time works off, and the outcome that stands behind it: pure.
///
/// So the items come in order whatever kind of queue the blocks run on, and after a few in a row the
/// other loads of the queue get their turn.
struct WindowDrain: Sendable {
    /// What the block does next.
    enum Step: Sendable {
        case take(ChunkWindow.Item)
        /// Everything was taken, and the outcome is there; nothing is scheduled after it.
        case end
        /// There is nothing to do; whatever comes starts another block.
        case rest
    }

    static var mostInARow: Int { 16 }

    var window = ChunkWindow()
    private var isRunning = false
    private var outcomeIsReady = false

    /// Notes that there is something to do; true when whoever calls has to schedule the block.
    mutating func start() -> Bool {
        defer { isRunning = true }
        return !isRunning
    }

    /// Notes that the outcome is decided; true as for `start`.
    mutating func startWithOutcome() -> Bool {
        outcomeIsReady = true
        return start()
    }

    /// Decides in one step, so that no chunk can come between the last item and the outcome.
    mutating func next() -> Step {
        if let item = window.takeFirst() { return .take(item) }
        isRunning = outcomeIsReady
        return outcomeIsReady ? .end : .rest
    }
}
