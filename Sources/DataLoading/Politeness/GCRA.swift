// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The generic cell rate algorithm (ITU-T I.371): a token bucket whose level is an instant.
///
/// With interval T and burst b, the next slot starts (b − 1)·T before the theoretical arrival time
/// `tat`, and taking it moves `tat` by T. The other state, `isAwaited`, records that a caller was
/// told to wait; see `reserve`. In any window W at most b + ⌈W/T⌉ slots start.
struct GCRA: Sendable {
    /// The time between slots, and how far ahead of it a burst may run.
    struct Rate: Hashable, Sendable {
        fileprivate let interval: FineTime
        fileprivate let tolerance: FineTime

        /// Makes a rate; nil unless it is above zero and finite.
        ///
        /// A burst below one counts as one.
        init?(requestsPerSecond: Double, burst: Int = 1) {
            guard requestsPerSecond > 0, requestsPerSecond.isFinite else { return nil }
            interval = FineTime(seconds: 1 / requestsPerSecond)
            // A time that is far away plus the tolerance must not saturate: a gate would open at once.
            tolerance = min(interval.multiplied(by: max(1, burst) - 1), FineTime(seconds: 3e9))
        }
    }

    private var tat = FineTime.distantPast
    private var isAwaited = false

    /// Makes a full bucket.
    init() {}

    /// Takes the slot that starts at or before `now`, or returns when the next one starts.
    ///
    /// No slot starts before the gate. The bucket is empty when the gate opens, so that waiting
    /// loads start one by one. A caller that was told to wait and returns less than the interval
    /// late takes the slot as of its start, so that a late timer does not lower the rate.
    mutating func reserve(
        at now: Instant, notBefore gate: Instant?, rate: Rate
    ) -> Instant? {
        let due = due(notBefore: gate, rate: rate)
        let start = due - rate.tolerance
        let time = FineTime(now)
        guard start <= time else {
            isAwaited = true
            return start.roundedUp
        }
        let isOnTime = isAwaited && time < start + rate.interval
        tat = (isOnTime ? due : max(due, time)) + rate.interval
        isAwaited = false
        return nil
    }

    /// The instant at which the slot after `position` others starts, if no other caller takes one.
    func start(
        position: Int, at now: Instant, notBefore gate: Instant?, rate: Rate
    ) -> Instant {
        let due = max(due(notBefore: gate, rate: rate), FineTime(now))
        let start = due + rate.interval.multiplied(by: position) - rate.tolerance
        return max(now, start.roundedUp)
    }

    /// Limits the debt from the old rate to one interval of the new rate.
    mutating func change(to rate: Rate, at now: Instant) {
        tat = min(tat, FineTime(now) + rate.tolerance + rate.interval)
    }

    /// Whether the bucket is full, as when new.
    func isFull(at now: Instant, notBefore gate: Instant?, rate: Rate?) -> Bool {
        due(notBefore: gate, rate: rate) <= FineTime(now)
    }

    /// Gives away the slots before an instant.
    mutating func skip(to instant: Instant) {
        tat = max(tat, FineTime(instant))
    }

    /// Moves the state to a clock that is ahead by `shift`.
    mutating func rebase(by shift: Duration) {
        guard tat > .distantPast else { return }
        tat = FineTime(tat.roundedUp + shift)
    }

    private func due(notBefore gate: Instant?, rate: Rate?) -> FineTime {
        guard let gate else { return tat }
        let opening = FineTime(gate)
        return max(tat, rate.map { opening + $0.tolerance } ?? opening)
    }
}
