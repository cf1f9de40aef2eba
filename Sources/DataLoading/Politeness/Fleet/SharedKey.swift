// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// What a daemon has leased for one key, and what it is asking for.
struct SharedKey: Sendable {
    typealias TimerHandle = TimedElements<SharedRates.Timer>.Handle

    var slots = LeasedSlots()
    var exchange = QuotaExchange.none
    /// The timer of the exchange.
    var timer: TimerHandle?
    /// The interval of the rate at which was asked last, if all reached the store.
    var interval = Duration.zero
    /// How far the line is known to be leased.
    var reach: Instant?
    /// When the first slot that nobody has leased starts, as far as is known.
    var nextStart: Instant?
    /// Whether loads wait because there is no slot, or none that is confirmed.
    var isStarved = false
    /// The number of slots that the last request asked for.
    var requested = 0
    /// How many loads were left without a slot after the last answer.
    var unserved = 0
    /// The most slots to ask for: fewer when slots were late, because no connection was free for them.
    var allowance = Int.max
    private var used = 0
    /// How long a failure says something of the next question: a key that loads ask for is asked about
    /// more often.
    private static let memory = Duration.seconds(30)
    /// Since when the store has not answered about this key.
    private(set) var failingSince: Instant?
    private var lastFailure: Instant?
    /// How often in a row it has not.
    private(set) var failures = 0
    /// Whether its loads were told to go on without the store.
    var isGivenUp = false

    /// Whether there is nothing to remember at an instant.
    func isIdle(at now: Instant) -> Bool {
        slots.count == 0 && exchange == .none && !isStarved
            && (reach.map { $0 <= now } ?? true)
    }

    /// Drops slots that cannot be used, and asks for no more than were used, if some were late.
    mutating func drop(at now: Instant, notBefore gate: Instant?) {
        guard slots.count > 0, slots.drop(at: now, notBefore: gate) > 0 else { return }
        allowance = max(1, used)
        used = 0
    }

    mutating func take() {
        slots.take()
        isStarved = false
        used += 1
        // All slots were used, so that there may be a use for more.
        guard used >= allowance else { return }
        allowance = allowance > Int.max / 2 ? Int.max : allowance * 2
        used = 0
    }

    mutating func noteAnswer() {
        failingSince = nil
        failures = 0
        isGivenUp = false
    }

    /// Notes that the store is back; one more failure tells whether it refuses this key.
    mutating func noteReturn() { failures = min(failures, 1) }

    mutating func noteFailure(sentAt sent: Instant, at now: Instant) {
        if let lastFailure, now - lastFailure > Self.memory { noteAnswer() }
        failingSince = min(failingSince ?? sent, sent)
        lastFailure = now
        failures = min(failures + 1, 1_000)
    }

    /// Since when there was no answer about this key, again and again and for longer than a patience; nil
    /// where there was one.
    func silentSince(patience: Duration, at now: Instant) -> Instant? {
        guard let failingSince, failingSince + patience <= now,
            lastFailure.map({ now - $0 <= Self.memory }) ?? false
        else { return nil }
        return failures > 1 || exchange.isLate ? failingSince : nil
    }

    /// Whether what is left lasts no longer than a time, while loads wait for more.
    func runsOut(within time: Duration, at now: Instant) -> Bool {
        guard unserved > 0 else { return false }
        return slots.end.map { $0 - now <= time } ?? true
    }
}
