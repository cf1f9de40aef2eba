// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Keeps what happened, in order, and wakes tests that wait for it: no polling, no sleeping.
public final class EventRecorder<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var elements: [Element] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<[Element], Never>)] = []
    }

    private let state = Locked(State())

    /// Makes an empty recorder.
    public init() {}

    /// What happened so far.
    public var elements: [Element] { state.withLock { $0.elements } }

    /// Notes that something happened; any thread may.
    public func record(_ element: Element) {
        let (elements, woken) = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            let woken = state.waiters.filter { $0.count <= count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= count }
            return (state.elements, woken)
        }
        for waiter in woken { waiter.resume(returning: elements) }
    }

    /// Returns what happened once at least `count` things have.
    public func first(_ count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let elements = state.withLock { state -> [Element]? in
                guard state.elements.count < count else { return state.elements }
                state.waiters.append((count, continuation))
                return nil
            }
            if let elements { continuation.resume(returning: elements) }
        }
    }
}
