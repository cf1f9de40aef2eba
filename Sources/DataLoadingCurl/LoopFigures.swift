// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Synchronization

/// What a loop does: its thread writes it once a round, and any thread reads it.
final class LoopFigures: Sendable {
    /// How long a long round is told, in nanoseconds, unless a longer one comes.
    private static let memory: Int64 = 60_000_000_000

    private let connections = Atomic(0)
    private let transfers = Atomic(0)
    private let longest = Atomic<Int64>(0)
    private let longestEnd = Atomic<Int64>(0)
    /// Changed only when a connection is opened or closed.
    private let origins = Locked<[Origin: Int]>([:])

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

    /// Notes that a connection was opened for an origin.
    func opened(_ origin: Origin) { origins.withLock { $0[origin, default: 0] += 1 } }

    /// Notes that a connection was closed that had been opened for an origin.
    func closed(_ origin: Origin) {
        origins.withLock { origins in
            let left = (origins[origin] ?? 1) - 1
            origins[origin] = left > 0 ? left : nil
        }
    }

    /// The number of open connections for each origin.
    var connectionsByOrigin: [Origin: Int] { origins.withLock { $0 } }

    var openConnections: Int { connections.load(ordering: .relaxed) }

    var runningTransfers: Int { transfers.load(ordering: .relaxed) }

    /// The longest round of about the last minute, in nanoseconds; zero when the loop slept since.
    func longestRound(at now: Int64) -> Int64 {
        let age = now &- longestEnd.load(ordering: .relaxed)
        return age > Self.memory ? 0 : longest.load(ordering: .relaxed)
    }
}
