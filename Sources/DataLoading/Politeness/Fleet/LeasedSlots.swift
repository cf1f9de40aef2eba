// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The slots of one key that this daemon has leased and not used, in the order in which they start.
///
/// A slot that starts before the gate, or that is late by more than 25 ms and its interval, is
/// dropped: fewer loads start then, but no two slots are used at once.
struct LeasedSlots: Sendable {
    /// The first slot.
    enum First: Hashable, Sendable {
        case none
        /// It has started.
        case due
        /// It starts at an instant.
        case later(Instant)
    }

    /// Slots that one answer brought, one interval apart.
    private struct Run: Sendable {
        var start: Instant
        let interval: Int64
        var count: Int
        /// No slot counts as due before its answer came.
        let arrival: Instant
        /// The store said, no earlier than at this instant, that the key was open.
        var confirmed: Instant

        var due: Instant { max(arrival, start) }

        /// When a slot starts by the store, which may be before its answer came: those of a burst do.
        private func nominal(_ position: Int) -> Instant {
            let (span, overflow) = interval.multipliedReportingOverflow(by: Int64(position))
            return start.advanced(byNanoseconds: overflow ? .max : span)
        }

        func start(position: Int) -> Instant { max(arrival, nominal(position)) }

        mutating func removeFirst(_ number: Int) {
            start = nominal(number)
            count -= number
        }

        /// How many slots come before an instant.
        func count(before instant: Instant) -> Int {
            guard due < instant else { return 0 }
            guard interval > 0, arrival < instant else { return arrival < instant ? count : 0 }
            let span = instant.nanoseconds(since: start)
            return Int(clamping: min(Int64(count), (span - 1) / interval + 1))
        }
    }

    /// How late a slot may be used, if its interval is no longer.
    static let maxLateness = Duration.milliseconds(25)

    private var runs: [Run] = []
    /// The number of slots.
    private(set) var count = 0

    /// When the last slot starts; nil without slots.
    var end: Instant? { runs.last.map { $0.start(position: $0.count - 1) } }

    /// The time between two slots; nil without slots.
    var interval: Duration? { runs.first.map { .nanoseconds($0.interval) } }

    /// Adds the slots of an answer.
    ///
    /// - Parameters:
    ///   - number: How many; less than one adds none.
    ///   - start: When the first starts.
    ///   - interval: The time between two; below zero counts as zero.
    ///   - arrival: When the answer came.
    ///   - confirmed: When the request was sent.
    mutating func add(
        _ number: Int, from start: Instant, every interval: Duration, arrival: Instant,
        confirmed: Instant
    ) {
        guard number > 0 else { return }
        runs.append(
            Run(
                start: start, interval: max(0, interval.wholeNanoseconds), count: number,
                arrival: arrival, confirmed: confirmed))
        count += number
    }

    /// Drops what can no longer be used; returns how many slots that were for being late.
    mutating func drop(at now: Instant, notBefore gate: Instant?) -> Int {
        var late = 0
        while let run = runs.first {
            let lateness = max(run.interval, Self.maxLateness.wholeNanoseconds)
            let tooLate = run.count(before: now.advanced(byNanoseconds: -lateness))
            let closed = gate.map { run.count(before: $0) } ?? 0
            late += tooLate
            let dropped = max(tooLate, closed)
            guard dropped > 0 else { return late }
            remove(dropped)
        }
        return late
    }

    /// The first slot.
    func first(at now: Instant) -> First {
        guard let run = runs.first else { return .none }
        return run.due <= now ? .due : .later(run.due)
    }

    /// Whether the key may have been closed between the last news of it and an instant: for longer
    /// than `window` the store was not asked.
    func mustBeConfirmed(at instant: Instant, within window: Duration) -> Bool {
        runs.first.map { instant - $0.confirmed > window } ?? false
    }

    /// Notes that the store said at an instant, or later, whether the key was open.
    mutating func confirm(at instant: Instant) {
        for index in runs.indices { runs[index].confirmed = max(runs[index].confirmed, instant) }
    }

    /// Uses the first slot.
    mutating func take() {
        if !runs.isEmpty { remove(1) }
    }

    /// When the slot after `position` others starts; nil with fewer slots.
    func start(position: Int) -> Instant? {
        var position = position
        for run in runs {
            if position < run.count { return run.start(position: position) }
            position -= run.count
        }
        return nil
    }

    private mutating func remove(_ number: Int) {
        runs[0].removeFirst(number)
        count -= number
        if runs[0].count == 0 { runs.removeFirst() }
    }
}
