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
    /// When the first slot that no daemon has leased starts, as far as is known.
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
    var trust = KeyTrust.trusted
    /// Whether loads have used the daemon's own share since the store was asked last.
    var isWanted = false
    var ownShare = OwnShareUse.none

    /// Whether there is nothing to remember at an instant.
    func isIdle(at now: Instant) -> Bool {
        slots.count == 0 && exchange == .none && !isStarved
            && ownShare.isOver(at: now) && (reach.map { $0 <= now } ?? true)
    }

    /// Drops slots that cannot be used, and asks for no more than were used, if some were late.
    mutating func drop(at now: Instant, notBefore gate: Instant?) {
        let count = slots.count
        guard count > 0 else { return }
        let isLate = slots.drop(at: now, notBefore: gate) > 0
        if slots.count < count { ownShare.slotsWereDropped() }
        guard isLate else { return }
        allowance = max(1, used)
        used = 0
    }

    mutating func take() {
        slots.take()
        isStarved = false
        ownShare = .none
        used += 1
        // All slots were used, so that there may be a use for more.
        guard used >= allowance else { return }
        allowance = allowance > Int.max / 2 ? Int.max : allowance * 2
        used = 0
    }

    /// Whether what is left lasts no longer than a time, while loads wait for more.
    func runsOut(within time: Duration, at now: Instant) -> Bool {
        guard unserved > 0 else { return false }
        return slots.end.map { $0 - now <= time } ?? true
    }
}
