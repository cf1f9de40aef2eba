// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
import DataLoadingSupport

/// A scheduler whose time a test advances; it runs its actions on the test's thread.
final class VirtualScheduler: Scheduler, Sendable {
    struct SchedulerTimeType: Strideable, Sendable {
        let nanoseconds: Int

        func distance(to other: Self) -> Stride { Stride(other.nanoseconds - nanoseconds) }

        func advanced(by stride: Stride) -> Self {
            Self(nanoseconds: nanoseconds + stride.magnitude)
        }
    }

    struct Stride: SchedulerTimeIntervalConvertible, SignedNumeric, Comparable, Sendable {
        var magnitude: Int

        init(_ nanoseconds: Int) { magnitude = nanoseconds }
        init(integerLiteral value: Int) { magnitude = value }
        init?<Source: BinaryInteger>(exactly source: Source) {
            guard let value = Int(exactly: source) else { return nil }
            magnitude = value
        }

        static func < (left: Self, right: Self) -> Bool { left.magnitude < right.magnitude }
        static func + (left: Self, right: Self) -> Self { Self(left.magnitude + right.magnitude) }
        static func - (left: Self, right: Self) -> Self { Self(left.magnitude - right.magnitude) }
        static func * (left: Self, right: Self) -> Self { Self(left.magnitude * right.magnitude) }
        static func *= (left: inout Self, right: Self) { left = left * right }

        static func seconds(_ value: Int) -> Self { Self(value * 1_000_000_000) }
        static func seconds(_ value: Double) -> Self { Self(Int(value * 1e9)) }
        static func milliseconds(_ value: Int) -> Self { Self(value * 1_000_000) }
        static func microseconds(_ value: Int) -> Self { Self(value * 1_000) }
        static func nanoseconds(_ value: Int) -> Self { Self(value) }
    }

    /// There are none.
    struct SchedulerOptions: Sendable {}

    private struct Action: Sendable {
        let due: Int
        let number: Int
        nonisolated(unsafe) let run: () -> Void
    }

    private struct State: Sendable {
        var now = 0
        var number = 0
        var actions: [Action] = []
    }

    private let state = Locked(State())

    var now: SchedulerTimeType { SchedulerTimeType(nanoseconds: state.withLock { $0.now }) }

    var minimumTolerance: Stride { 0 }

    /// The number of actions that wait.
    var waiting: Int { state.withLock { $0.actions.count } }

    /// Advances the time and runs what is due, in order.
    func advance(by stride: Stride) {
        let end = state.withLock { $0.now + stride.magnitude }
        while let action = due(by: end) { action.run() }
        state.withLock { $0.now = end }
    }

    private func due(by end: Int) -> Action? {
        state.withLock { state in
            let next = state.actions.filter { $0.due <= end }
                .min { ($0.due, $0.number) < ($1.due, $1.number) }
            guard let next else { return nil }
            state.actions.removeAll { $0.number == next.number }
            state.now = max(state.now, next.due)
            return next
        }
    }

    func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        schedule(after: now, tolerance: 0, options: nil, action)
    }

    func schedule(
        after date: SchedulerTimeType, tolerance: Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        nonisolated(unsafe) let action = action
        state.withLock { state in
            state.number += 1
            state.actions.append(
                Action(due: date.nanoseconds, number: state.number, run: action))
        }
    }

    func schedule(
        after date: SchedulerTimeType, interval: Stride, tolerance: Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        let isCancelled = Locked(false)
        scheduleAgain(after: date, interval, isCancelled, action)
        return AnyCancellable { isCancelled.withLock { $0 = true } }
    }

    private func scheduleAgain(
        after date: SchedulerTimeType, _ interval: Stride, _ isCancelled: Locked<Bool>,
        _ action: @escaping () -> Void
    ) {
        schedule(after: date, tolerance: 0, options: nil) {
            guard !isCancelled.withLock({ $0 }) else { return }
            action()
            self.scheduleAgain(after: date.advanced(by: interval), interval, isCancelled, action)
        }
    }
}
