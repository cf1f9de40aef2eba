// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What a loop does: its thread writes it once a round, and any thread reads it.
final class LoopFigures: Sendable {
    /// How long a long round is told, in nanoseconds, unless a longer one comes.
    private static let memory: Int64 = 60_000_000_000

    private let connections = Atomic(0)
    private let transfers = Atomic(0)
    private let longest = Atomic<Int64>(0)
    private let longestEnd = Atomic<Int64>(0)

    /// Notes a round of the loop, and what there is at its end.
    func note(connections: Int, transfers: Int, from begin: Int64, to end: Int64) {
        self.connections.store(connections, ordering: .relaxed)
        self.transfers.store(transfers, ordering: .relaxed)
        let time = end &- begin
        // No other thread writes, so that nothing comes between.
        guard
            time > longest.load(ordering: .relaxed)
                || end &- longestEnd.load(ordering: .relaxed) > Self.memory
        else { return }
        longest.store(time, ordering: .relaxed)
        longestEnd.store(end, ordering: .relaxed)
    }

    var openConnections: Int { connections.load(ordering: .relaxed) }

    var runningTransfers: Int { transfers.load(ordering: .relaxed) }

    /// The longest round of about the last minute, in nanoseconds; zero when the loop slept since.
    func longestRound(at now: Int64) -> Int64 {
        let age = now &- longestEnd.load(ordering: .relaxed)
        return age > Self.memory ? 0 : longest.load(ordering: .relaxed)
    }
}
