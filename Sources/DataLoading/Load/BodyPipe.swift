// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Delivers the head and body of one load to its end, and then the outcome.
///
/// It delivers in order, runs one block at a time, and says when the transfer must be paused. A
/// block delivers at most 16 items, so that other loads on the same queue get their turn.
final class BodyPipe<Resource>: Sendable {
    typealias Item = ChunkWindow.Item
    /// Runs a block for a caller, now or later, with the value to which the end writes.
    typealias Place = @Sendable (Caller, @escaping @Sendable (inout Resource) -> Void) -> Void

    private static var maxInARow: Int { 16 }

    private enum Step: Sendable {
        case deliver(Item)
        /// Every item was delivered, and the outcome is ready; nothing comes after it.
        case end
        /// There is nothing to do; the next item schedules another block.
        case rest
    }

    private struct State: Sendable {
        var window = ChunkWindow()
        var isScheduled = false
        var outcomeIsReady = false

        /// Decides in one step, so that no item can come between the last one and the outcome.
        mutating func next() -> Step {
            if let item = window.takeFirst() { return .deliver(item) }
            isScheduled = outcomeIsReady
            return outcomeIsReady ? .end : .rest
        }
    }

    private let place: Place
    private let deliver: @Sendable (Item, inout Resource, Load) -> Bool
    private let finish: @Sendable (inout Resource, Load) -> Void
    private let state = Locked(State())

    /// Makes a pipe that calls both closures in blocks of `place`; `deliver` returns false to close
    /// it.
    init(
        at place: @escaping Place,
        deliver: @escaping @Sendable (Item, inout Resource, Load) -> Bool,
        finish: @escaping @Sendable (inout Resource, Load) -> Void
    ) {
        self.place = place
        self.deliver = deliver
        self.finish = finish
    }

    /// Whether the window is full.
    var isFull: Bool { state.withLock { $0.window.isFull } }

    func append(_ response: DataLoaderResponse, from load: Load, by caller: Caller) {
        schedule(load, caller) { $0.window.append(response) }
    }

    /// Appends a piece of the body; returns true when the transfer must be paused.
    func append(_ bytes: Data, from load: Load, by caller: Caller) -> Bool {
        schedule(load, caller) { $0.window.append(bytes) }
    }

    /// Drops the items that wait, and all that come later.
    func close() {
        // The dropped items are released outside the lock.
        _ = state.withLock { $0.window.close() }
    }

    /// Notes that the outcome can be taken.
    func outcomeIsReady(_ load: Load, by caller: Caller) {
        schedule(load, caller) { $0.outcomeIsReady = true }
    }

    private func schedule<Result: Sendable>(
        _ load: Load, _ caller: Caller, _ change: (inout State) -> Result
    ) -> Result {
        let (result, isFirst) = state.withLock { state in
            let result = change(&state)
            defer { state.isScheduled = true }
            return (result, !state.isScheduled)
        }
        if isFirst { place(caller) { self.drain(&$0, load) } }
        return result
    }

    private func drain(_ resource: inout Resource, _ load: Load) {
        for _ in 0..<Self.maxInARow {
            switch state.withLock({ $0.next() }) {
            case .deliver(let item):
                if !deliver(item, &resource, load) { close() }
                guard case .chunk(let bytes) = item else { continue }
                let opens = state.withLock { $0.window.delivered(bytes.count) }
                if opens { load.handle(.windowHasOpened) }
            case .end: return finish(&resource, load)
            case .rest: return
            }
        }
        place(.other) { self.drain(&$0, load) }
    }
}
