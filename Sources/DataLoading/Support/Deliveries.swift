// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Hands items over on a queue, in order: one block takes whatever came until it runs, so that a
/// busy queue is not woken for each of them.
///
/// As with a block for each item, whatever is put on the queue after an item runs after it.
final class Deliveries<Item: Sendable>: Sendable {
    private struct State: Sendable {
        var waiting = FIFO<Item>()
        /// Whether a block that has not begun to run will take what waits.
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
