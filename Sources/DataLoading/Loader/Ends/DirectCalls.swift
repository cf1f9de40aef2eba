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

    /// Where the transport makes its calls.
    enum Place: Sendable {
        /// Inside the step that ends the load, for delegates that promise not to block.
        case inPlace
        /// Between two rounds of its loop, where another thread runs the loop when the call blocks. On
        /// the queue where the transport has no such place, and while calls are slow.
        case betweenRounds
    }

    private struct State: Sendable {
        var waiting = FIFO<Call>()
        /// Whether a thread makes calls, or a block that will is scheduled.
        var isBusy = false
        var pace = CallPace()

        /// The next call, unless they are slow; nil ends the row when none waits.
        mutating func next() -> Call? {
            let call = waiting.popFirst()
            isBusy = call != nil
            return call
        }
    }

    /// The maximum number of waiting calls that the transport makes in a row: a delegate whose loads
    /// end at once would keep it from its sockets.
    private static let maxInARow = 16

    private let place: Place
    private let queue: DispatchQueue
    private let now: @Sendable () -> Instant
    private let state = Locked(State())

    init(_ place: Place, queue: DispatchQueue, now: @escaping @Sendable () -> Instant) {
        self.place = place
        self.queue = queue
        self.now = now
    }

    /// Makes a call: on the transport's thread, after the running call, or on the queue.
    func make(by caller: Caller, _ call: @escaping Call) {
        let isFirst = state.withLock { state in
            if state.isBusy { state.waiting.append(call) }
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFirst else { return }
        switch (caller, place) {
        case (.transport, .inPlace):
            call()
            makeWaiting()
        case (.transport, .betweenRounds):
            guard let round = RoundCalls.current, !isSlow else { return makeOnQueue(call) }
            round.add(on: queue) { self.makeTimed(call) }
        case (.other, _): makeOnQueue(call)
        }
    }

    private var isSlow: Bool {
        state.withLock { $0.pace.slowUntil }.map { now() < $0 } ?? false
    }

    private func makeOnQueue(_ call: @escaping Call) {
        queue.async {
            call()
            self.makeWaiting()
        }
    }

    private func makeWaiting() {
        for _ in 0..<Self.maxInARow {
            guard let call = state.withLock({ $0.next() }) else { return }
            call()
        }
        queue.async { self.makeWaiting() }
    }

    /// Makes a call and those that wait until they are slow.
    private func makeTimed(_ first: @escaping Call) {
        var call = first
        var begun = now()
        for _ in 0...Self.maxInARow {
            call()
            let end = now()
            let (next, isSlow) = state.withLock { state in
                state.pace.note(end.nanoseconds(since: begun), at: end)
                let isSlow = state.pace.slowUntil != nil && !state.waiting.isEmpty
                return (isSlow ? nil : state.next(), isSlow)
            }
            if isSlow { break }
            guard let next else { return }
            call = next
            begun = end
        }
        queue.async { self.makeWaiting() }
    }
}
