// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// Bounds how many bodies of a transport are read at once, as each may block a thread for ever.
    ///
    /// Dispatch has 255 threads for all serial queues of a process, delegate queues among them.
    final class BodyReaders: Sendable {
        /// Starts a reading elsewhere, which calls `done` when it is over.
        typealias Reading = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

        private struct State {
            var next = 0
            /// When each reading began that is not over.
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
        /// How long a reading takes that is taken for blocked, in nanoseconds.
        private static let blocked: Int64 = 1_000_000_000
        private let state = Locked(State())

        /// Starts a reading now or when another is over; false when all that run are blocked.
        ///
        /// Then only a body that nothing was read of is refused: another may have been sent in part, and
        /// waits.
        func start(isFirst: Bool = true, _ reading: @escaping Reading) -> Bool {
            let now = LoopClock.now
            let (number, isTaken): (Int?, Bool) = state.withLock { state in
                guard state.running.count >= Self.limit else { return (state.begin(now), true) }
                let youngest = state.running.values.max() ?? now
                guard !isFirst || now &- youngest < Self.blocked else { return (nil, false) }
                state.waiting.append(reading)
                return (nil, true)
            }
            if let number { run(reading, number) }
            return isTaken
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
#endif
