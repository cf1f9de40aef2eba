// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// The right to run a loop, which a second thread takes from one whose call of users' code blocks.
///
/// This is the pattern Leader/Followers (Schmidt and others, Pattern-Oriented Software Architecture
/// 2, 2000) with one follower, who looks instead of being promoted for each event: an uncontended
/// compare-and-swap a call is all that the leader pays.
final class LoopSeat: Sendable {
    /// Odd while a call runs, and another number for each call.
    private let number = Atomic<UInt64>(0)
    /// Whether the follower waits for the bell instead of looking.
    private let isParked = Atomic<Bool>(true)
    private let isClosed = Atomic<Bool>(false)
    private let bell = DispatchSemaphore(value: 0)

    /// Begins a call, and returns its number.
    func beginCall() -> UInt64 {
        // Each side writes, and then reads what the other writes (here and in `park`): at least one of
        // them sees the other's write, so that the follower either sees the call or is rung for.
        let number = self.number.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        if isParked.load(ordering: .sequentiallyConsistent),
            isParked.exchange(false, ordering: .sequentiallyConsistent)
        {
            bell.signal()
        }
        return number
    }

    /// Ends a call; false when the seat was taken meanwhile.
    func endCall(_ number: UInt64) -> Bool {
        self.number.compareExchange(
            expected: number, desired: number &+ 1, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Keeps the seat for the thread that has it, for good.
    func keep() { number.store(0, ordering: .sequentiallyConsistent) }

    /// Ends the follower's wait.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        bell.signal()
    }

    /// Waits until a call is longer than the pause between two looks, and takes the seat; false once
    /// the seat is closed.
    ///
    /// While calls come the follower looks again after each pause; when none runs and none came in
    /// between, it waits for the bell. `take` ends the call of a number where that still runs.
    func standBy(pause: () -> Void, take: (UInt64) -> Bool) -> Bool {
        while true {
            bell.wait()
            var last = number.load(ordering: .sequentiallyConsistent)
            var isLooking = true
            while isLooking {
                pause()
                if isClosed.load(ordering: .sequentiallyConsistent) { return false }
                let now = number.load(ordering: .acquiring)
                if now == last {
                    guard now & 1 == 0 else {
                        guard take(now) else { continue }
                        // The next follower waits for the bell.
                        isParked.store(true, ordering: .sequentiallyConsistent)
                        return true
                    }
                    isLooking = !park(since: now)
                }
                last = now
            }
        }
    }

    /// Stops looking; false when a call began meanwhile that did not ring.
    private func park(since last: UInt64) -> Bool {
        isParked.store(true, ordering: .sequentiallyConsistent)
        guard number.load(ordering: .sequentiallyConsistent) != last else { return true }
        return !isParked.exchange(false, ordering: .sequentiallyConsistent)
    }
}
