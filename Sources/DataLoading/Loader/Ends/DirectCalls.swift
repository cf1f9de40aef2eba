// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Makes the calls to the delegate of a loader on the transport's thread where that is possible, in
/// order and one at a time.
///
/// What is added while a call is made is called when that one returns, on the same thread; no thread
/// is woken for it. What others than the transport add is called on the queue.
final class DirectCalls: Sendable {
    typealias Call = @Sendable () -> Void

    private enum Item: Sendable {
        case outcome(Load)
        case call(Call)
    }

    /// Where the transport makes its calls.
    enum Place: Sendable {
        /// Inside the step that ends the load, for delegates that promise not to block.
        case inPlace
        /// Between two rounds of its loop, where another thread runs the loop when the call blocks. On
        /// the queue where the transport has no such place, and while calls are slow.
        case betweenRounds
    }

    private struct State: Sendable {
        var waiting = FIFO<Item>()
        /// Whether a thread makes calls, or is about to.
        var isBusy = false
        var pace = CallPace()

        /// Takes the next call; nil ends the row when none waits.
        mutating func next() -> Item? {
            let item = waiting.popFirst()
            isBusy = item != nil
            return item
        }
    }

    /// The maximum number of calls that the transport makes in a row: a delegate whose loads end at
    /// once would keep it from its sockets.
    private static let maxInARow = 17

    private let place: Place
    private let queue: DispatchQueue
    private let now: @Sendable () -> Instant
    private let handOver: @Sendable (Load) -> Void
    private let state = Locked(State())

    /// Makes the calls of a loader; `handOver` makes that with the outcome of a load.
    init(
        _ place: Place, queue: DispatchQueue, now: @escaping @Sendable () -> Instant,
        handOver: @escaping @Sendable (Load) -> Void
    ) {
        self.place = place
        self.queue = queue
        self.now = now
        self.handOver = handOver
    }

    /// Makes a call: in place, after the running call, or on the queue.
    ///
    /// Between rounds only outcomes are delivered: chunks would fill the window of their load before
    /// the round ends.
    func make(by caller: Caller, _ call: @escaping Call) {
        make(.call(call), by: place == .inPlace ? caller : .other)
    }

    /// Makes the call with the outcome of a load: on the transport's thread, after the running call,
    /// or on the queue.
    func makeOutcome(of load: Load, by caller: Caller) { make(.outcome(load), by: caller) }

    private func make(_ item: Item, by caller: Caller) {
        let isFirst = state.withLock { state in
            state.waiting.append(item)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFirst else { return }
        switch (caller, place) {
        case (.transport, .inPlace): makeWaiting()
        case (.transport, .betweenRounds):
            if let round = RoundCalls.current, !isSlow {
                round.add(on: queue) { self.makeTimed() }
            } else {
                makeWaitingOnQueue()
            }
        case (.other, _): makeWaitingOnQueue()
        }
    }

    private var isSlow: Bool {
        state.withLock { $0.pace.slowUntil }.map { now() < $0 } ?? false
    }

    private func perform(_ item: Item) {
        switch item {
        case .outcome(let load): handOver(load)
        case .call(let call): call()
        }
    }

    private func makeWaiting() {
        for _ in 0..<Self.maxInARow {
            guard let item = state.withLock({ $0.next() }) else { return }
            perform(item)
        }
        makeWaitingOnQueue()
    }

    private func makeWaitingOnQueue() { queue.async { self.makeWaiting() } }

    /// Makes the calls that wait, until they are slow.
    private func makeTimed() {
        guard var item = state.withLock({ $0.next() }) else { return }
        var begun = now()
        for count in 1...Self.maxInARow {
            perform(item)
            let end = now()
            let (next, isOver) = state.withLock { state -> (Item?, Bool) in
                state.pace.note(end.nanoseconds(since: begun), at: end)
                let isLast = state.pace.slowUntil != nil || count == Self.maxInARow
                if isLast, !state.waiting.isEmpty { return (nil, false) }
                let next = state.next()
                return (next, !state.isBusy)
            }
            if isOver { return }
            guard let next else { break }
            item = next
            begun = end
        }
        makeWaitingOnQueue()
    }
}
