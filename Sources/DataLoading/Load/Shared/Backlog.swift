// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// Limits how much work waits for a serial queue whose work may block.
final class Backlog: Sendable {
    private let queue: DispatchQueue
    private let limit: Int
    private let count = Locked(0)
    /// The number of blocks that wait or run.
    private let unfinished = Locked(0)

    init(of queue: DispatchQueue, limit: Int) {
        self.queue = queue
        self.limit = limit
    }

    /// The number of blocks that wait.
    var waiting: Int { count.withLock { $0 } }

    /// Whether no work waits or runs.
    var isIdle: Bool { unfinished.withLock { $0 } == 0 }

    /// Runs work for a load on the queue, unless the load's outcome was taken meanwhile; returns
    /// false when too much work is already waiting.
    ///
    /// The wait does not retain the load.
    func run(for token: CancellationToken, _ work: @escaping @Sendable (Load) -> Void) -> Bool {
        guard count.add(1) <= limit else {
            count.add(-1)
            return false
        }
        unfinished.add(1)
        queue.async { [self] in
            count.add(-1)
            if let load = token.load { work(load) }
            unfinished.add(-1)
        }
        return true
    }
}
