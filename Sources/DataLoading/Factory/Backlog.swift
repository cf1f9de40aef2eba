// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// What waits for a serial queue whose work may block: so much, and no more.
final class Backlog: Sendable {
    private let queue: DispatchQueue
    private let limit: Int
    private let count = Atomic(0)

    init(of queue: DispatchQueue, limit: Int) {
        self.queue = queue
        self.limit = limit
    }

    /// Runs something on the queue, in its turn; false when too much waits for it already.
    func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue < limit else {
            count.subtract(1, ordering: .relaxed)
            return false
        }
        queue.async { [self] in
            count.subtract(1, ordering: .relaxed)
            work()
        }
        return true
    }
}
