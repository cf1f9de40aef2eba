// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The generic cell rate algorithm (ITU-T I.371): a token bucket whose whole state is one instant.
///
/// With interval T and burst b, the next slot starts (b − 1)·T before the theoretical arrival time
/// `tat`, and taking it moves `tat` by T. In any window W at most b + ⌈W/T⌉ slots start.
package struct GCRA: Sendable {
    /// The time between slots, and how far ahead of it a burst may run.
    package struct Rate: Hashable, Sendable {
        fileprivate let interval: FineTime
        fileprivate let tolerance: FineTime

        /// A rate above zero and finite, nil otherwise; a burst below one counts as one.
        package init?(requestsPerSecond: Double, burst: Int = 1) {
            guard requestsPerSecond > 0, requestsPerSecond.isFinite else { return nil }
            interval = FineTime(seconds: 1 / requestsPerSecond)
            tolerance = interval.multiplied(by: max(1, burst) - 1)
        }
    }

    private var tat = FineTime.distantPast
    private var isAwaited = false

    /// Makes a full bucket.
    package init() {}

    /// Takes the slot that starts at or before `now`, or answers when the next one starts.
    ///
    /// No slot starts before the gate, and when it opens the bucket is empty, so that those who
    /// waited leave one by one. Somebody who was told to wait and comes late, by less than the
    /// interval, takes the slot as of its start: a timer's lateness must not slow the rate.
    package mutating func reserve(
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

    /// When the slot after `position` others starts, if nobody else comes.
    package func start(
        position: Int, at now: Instant, notBefore gate: Instant?, rate: Rate
    ) -> Instant {
        let due = max(due(notBefore: gate, rate: rate), FineTime(now))
        let start = due + rate.interval.multiplied(by: position) - rate.tolerance
        return max(now, start.roundedUp)
    }

    /// Lets nobody wait longer than the new rate's interval for what the old rate took.
    package mutating func change(to rate: Rate, at now: Instant) {
        tat = min(tat, FineTime(now) + rate.tolerance + rate.interval)
    }

    /// Whether the bucket is as if it had never been used.
    package func isFull(at now: Instant, notBefore gate: Instant?, rate: Rate?) -> Bool {
        due(notBefore: gate, rate: rate) <= FineTime(now)
    }

    /// Moves the state to a clock that shows `shift` more.
    package mutating func rebase(by shift: Duration) {
        guard tat > .distantPast else { return }
        tat = FineTime(tat.roundedUp + shift)
    }

    private func due(notBefore gate: Instant?, rate: Rate?) -> FineTime {
        guard let gate else { return tat }
        let opening = FineTime(gate)
        return max(tat, rate.map { opening + $0.tolerance } ?? opening)
    }
}
