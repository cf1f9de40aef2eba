// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// Limits how many bodies of a transport are read at once, as each may block a thread for ever.
///
/// Dispatch has 255 threads for all serial queues of a process, including delegate queues.
final class BodyReaders: Sendable {
    /// A function that starts a read on another thread, which calls `done` at its end.
    typealias Reading = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var next = 0
        /// The start of each running read.
        var running: [Int: Int64] = [:]
        var waiting = FIFO<Reading>()

        mutating func begin(_ now: Int64) -> Int {
            next &+= 1
            running[next] = now
            return next
        }
    }

    static let limit = 64
    static let refusal = DataLoaderError.resources(
        reason: "\(limit) request bodies block their readers")
    /// The time after which a read counts as blocked, in nanoseconds.
    private static let blocked: Int64 = 1_000_000_000
    private let state = Locked(State())

    /// Starts a read now or when another has ended; false when all running reads are blocked.
    ///
    /// Only the first read of a body is refused then. A body that may have been sent in part
    /// waits.
    func start(isFirst: Bool = true, _ reading: @escaping Reading) -> Bool {
        let now = LoopClock.now
        let (number, isAccepted): (Int?, Bool) = state.withLock { state in
            guard state.running.count >= Self.limit else { return (state.begin(now), true) }
            let youngest = state.running.values.max() ?? now
            guard !isFirst || now &- youngest < Self.blocked else { return (nil, false) }
            state.waiting.append(reading)
            return (nil, true)
        }
        if let number { run(reading, number) }
        return isAccepted
    }

    private func run(_ reading: Reading, _ number: Int) {
        reading { [self] in
            let now = LoopClock.now
            let next = state.withLock { state -> (Reading, Int)? in
                state.running[number] = nil
                return state.waiting.popFirst().map { ($0, state.begin(now)) }
            }
            if let next { run(next.0, next.1) }
        }
    }
}
