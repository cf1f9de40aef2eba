// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch

/// Makes the calls to the delegate of a loader with direct delivery, in order and one at a time.
///
/// The transport makes a call in place when none is running. What it or others add meanwhile is
/// called when that one returns, on the same thread; no thread is woken for it.
final class DirectCalls: Sendable {
    typealias Call = @Sendable () -> Void

    private struct State: Sendable {
        var waiting = FIFO<Call>()
        /// Whether a thread makes calls, or a block that will is scheduled.
        var isBusy = false
    }

    /// The maximum number of waiting calls that the transport makes in a row: a delegate whose loads
    /// end at once would keep it from its sockets.
    private static let maxInARow = 16

    private let queue: DispatchQueue
    private let state = Locked(State())

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Makes a call: in place, after the running call, or on the queue.
    func make(by caller: Caller, _ call: @escaping Call) {
        let isFirst = state.withLock { state in
            if state.isBusy { state.waiting.append(call) }
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isFirst else { return }
        switch caller {
        case .transport:
            call()
            makeWaiting()
        case .other:
            queue.async {
                call()
                self.makeWaiting()
            }
        }
    }

    private func makeWaiting() {
        for _ in 0..<Self.maxInARow {
            let call = state.withLock { state in
                let call = state.waiting.popFirst()
                state.isBusy = call != nil
                return call
            }
            guard let call else { return }
            call()
        }
        queue.async { self.makeWaiting() }
    }
}
