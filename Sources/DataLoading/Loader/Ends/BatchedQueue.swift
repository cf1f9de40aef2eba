// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// Delivers items on a queue, in order and in batches.
///
/// One block delivers all items that arrive before it runs, so that a busy queue is not woken for
/// each item. As with one block per item, a block put on the queue after an item runs after that
/// item.
final class BatchedQueue<Item: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting = FIFO<Item>()
        /// Whether a block that has not begun to run will take the waiting items.
        var isScheduled = false
    }

    private let queue: DispatchQueue
    private let deliver: @Sendable (Item) -> Void
    private let state = Locked(State())

    init(on queue: DispatchQueue, _ deliver: @escaping @Sendable (Item) -> Void) {
        self.queue = queue
        self.deliver = deliver
    }

    /// Delivers an item on the queue, never inline.
    func add(_ item: Item) {
        let schedules = state.withLock { state in
            state.waiting.append(item)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { queue.async { self.deliverWaiting() } }
    }

    private func deliverWaiting() {
        var items = state.withLock { state in
            let items = state.waiting
            state = State()
            return items
        }
        while let item = items.popFirst() { deliver(item) }
    }
}
