// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Records events in order, and resumes tests that wait for them, without polling or sleeping.
public final class EventRecorder<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var elements: [Element] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Int, Never>)] = []
    }

    private let state = Locked(State())

    /// Makes an empty recorder.
    public init() {}

    /// The events so far.
    public var elements: [Element] { state.withLock { $0.elements } }

    /// Records an event; any thread may call.
    public func record(_ element: Element) {
        let (count, woken) = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            let woken = state.waiters.filter { $0.count <= count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= count }
            return (count, woken)
        }
        for waiter in woken { waiter.resume(returning: count) }
    }

    /// Returns the events once there are at least `count`.
    public func first(_ count: Int) async -> [Element] {
        let recorded = await withCheckedContinuation { continuation in
            let recorded = state.withLock { state -> Int? in
                guard state.elements.count < count else { return state.elements.count }
                state.waiters.append((count, continuation))
                return nil
            }
            if let recorded { continuation.resume(returning: recorded) }
        }
        // Read under the lock: the thread sanitizer does not see that a continuation, which is
        // resumed before it is awaited, orders two threads.
        return state.withLock { Array($0.elements.prefix(recorded)) }
    }
}
