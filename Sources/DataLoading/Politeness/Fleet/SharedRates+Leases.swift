// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The loads that wait for slots of one key.
struct SlotDemand: Hashable, Sendable {
    /// The number of loads.
    var count = 0
    /// The latest of their deadlines; in the distant future if one has none.
    var latest = Instant(nanoseconds: .min)

    static func += (left: inout SlotDemand, right: SlotDemand) {
        left.count += right.count
        left.latest = max(left.latest, right.latest)
    }
}

/// What an answer about a key has changed.
struct LeaseNews: Hashable, Sendable {
    /// Whether waiting loads are to ask again.
    var isChange = false
    /// When the key opens; nil if it is open.
    var gate: Instant?
    /// Whether the store was lost before.
    var isReturn = false
}

extension SharedRates {
    /// Prepares to ask about a key: loads that ask for a slot from now on are noticed by `begin`.
    mutating func prepare(_ key: RuleKey) {
        // Of two orders, the second must not forget who waits for the answer to the first.
        if keys[key]?.exchange == .ordered { keys[key]?.isStarved = false }
    }

    /// Begins to ask about a key; nil if there is nothing to ask any more.
    ///
    /// The demand is that of the loads that waited after `prepare`.
    mutating func begin(
        _ key: RuleKey, _ rule: RateRule, _ demand: SlotDemand, at now: Instant
    ) -> (request: QuotaRequest, number: UInt64)? {
        guard var entry = keys.removeValue(forKey: key) else { return nil }
        defer { keys[key] = entry }
        guard circuit.isShared, case .limited(_, let perSecond, let burst) = rule else {
            if entry.exchange == .ordered { entry.exchange = .none }
            return nil
        }
        let lacking = max(0, demand.count - entry.slots.count)
        let isUnconfirmed: Bool =
            switch entry.slots.first(at: now) {
            case .none: false
            case .due: entry.slots.mustBeConfirmed(at: now, within: window)
            case .later(let start): entry.slots.mustBeConfirmed(at: start, within: window)
            }
        // Loads that use the daemon's share need no slot: only an answer shows that there are some again.
        let isProbe = entry.trust.isRefused && entry.isWanted
        entry.isWanted = false
        guard lacking > 0 || isUnconfirmed && demand.count > 0 || isProbe else {
            if entry.exchange == .ordered { entry.exchange = .none }
            entry.unserved = 0
            // A load that came after the others were counted.
            if entry.isStarved { order(key, &entry) }
            return nil
        }
        let number = nextNumber()
        guard entry.exchange.begin(number, at: now) else { return nil }
        entry.timer = timers.insert(
            .leaseLimit(key, number: number), at: now + patience)
        entry.interval = .saturating(seconds: 1 / perSecond)
        entry.requested = min(lacking, entry.allowance)
        entry.unserved = lacking
        if demand.count > 0, isDry(entry, at: now) { entry.isStarved = true }
        let request = QuotaRequest(
            key: QuotaKey(key), requestsPerSecond: perSecond * portion, burst: burst,
            count: entry.requested,
            longestWait: demand.latest == .distantFuture ? nil : max(.zero, demand.latest - now),
            knownLead: entry.reach.map { max(.zero, $0 - now) } ?? .zero)
        return (request, number)
    }

    /// The part of the rate for those who reach the store; all of it if the others pause.
    private var portion: Double { policy == .pause ? 1 : members.portion }

    /// Whether the slots of the line that come before those of a key now leave room for this daemon's own
    /// share.
    ///
    /// They do not where the others counted this daemon when they leased them: it was away for a moment
    /// only, or the store refused one key alone.
    private func leavesRoom(for entry: SharedKey) -> Bool {
        wasMissed && portion < 1 && !entry.trust.isRefused
    }

    private func isDry(_ entry: SharedKey, at now: Instant) -> Bool {
        switch entry.slots.first(at: now) {
        case .none: true
        case .due: entry.slots.mustBeConfirmed(at: now, within: window)
        case .later: false
        }
    }

    /// Notes the answer about a key.
    mutating func answered(
        _ key: RuleKey, _ number: UInt64, _ lease: QuotaLease, at now: Instant
    ) -> LeaseNews {
        guard var entry = keys.removeValue(forKey: key) else { return LeaseNews() }
        defer { keys[key] = entry }
        let isLate = entry.exchange == .late(number: number)
        guard let sent = entry.exchange.end(number) else {
            if isLate, entry.isStarved || entry.isWanted { order(key, &entry) }
            return LeaseNews()
        }
        if let timer = entry.timer.take() { _ = timers.remove(timer) }
        guard now - sent <= FleetCircuit.answerLimit else {
            // The process was stopped meanwhile: the slots were for a time that is over.
            if entry.isStarved || entry.isWanted { order(key, &entry) }
            return LeaseNews()
        }
        let isReturn = storeAnswered(at: now)
        lastAnswer = now
        if !leavesRoom(for: entry) { entry.ownShare = .none }
        entry.trust = .trusted
        note(roundTrip: now - sent)
        var news = LeaseNews(isChange: entry.isStarved, isReturn: isReturn)
        if lease.gate > .zero { news.gate = sent + min(lease.gate, RateTable.maxGate) }
        let interval = min(max(.zero, lease.interval), .seconds(2_592_000))
        let furthest = RateTable.maxGate + window + interval * members.known * 2
        let reach = sent + min(max(.zero, lease.lead), furthest)
        entry.reach = max(entry.reach ?? reach, reach)
        let first = now + min(lease.firstStart, furthest)
        let count = min(max(0, lease.count), entry.requested)
        // A slow answer confirms too, or nothing would ever be confirmed.
        let confirmed = max(sent, now + window / -2)
        entry.slots.confirm(at: confirmed)
        leasedCount.addSaturated(Int64(count))
        entry.slots.add(count, from: first, every: interval, arrival: now, confirmed: confirmed)
        entry.nextStart = count == 0 ? first : max(now, first + interval * count)
        entry.unserved = max(0, entry.unserved - count)
        entry.isStarved = false
        if count > 0 {
            news.isChange = true
            entry.ownShare.lineBegins(askedAt: sent)
        }
        if count == 0, entry.requested > 0 {
            // All who could have waited so long are told; others may ask, but not at once.
            rest(key, &entry, until: now + window / 4)
        }
        return news
    }

    /// Notes that there is no answer about a key; returns whose loads are to ask again.
    mutating func failed(
        _ key: RuleKey, _ number: UInt64, at now: Instant, chance: Double
    ) -> AskAgain {
        guard var entry = keys.removeValue(forKey: key) else { return AskAgain() }
        let isLate = entry.exchange == .late(number: number)
        let sent = entry.exchange.end(number)
        if sent != nil, let timer = entry.timer.take() { _ = timers.remove(timer) }
        keys[key] = entry
        let news = sent.map { keyFailed(key, sentAt: $0, at: now, chance: chance) }
        if sent != nil || isLate { rest(key, at: now, chance: chance) }
        return news ?? AskAgain()
    }

    /// Notes that the patience with an answer about a key is over, and later the time for it; returns
    /// whose loads are to ask again.
    mutating func leaseExpired(
        _ key: RuleKey, _ number: UInt64, at now: Instant, chance: Double
    ) -> AskAgain {
        guard case .sent(number, let sent)? = keys[key]?.exchange else { return AskAgain() }
        let limit = sent + FleetCircuit.answerLimit
        if now < limit {
            keys[key]?.timer = timers.insert(.leaseLimit(key, number: number), at: limit)
        } else {
            _ = keys[key]?.exchange.expire(number)
            keys[key]?.timer = nil
        }
        return keyFailed(key, sentAt: sent, at: now, chance: chance)
    }

    private mutating func rest(_ key: RuleKey, at now: Instant, chance: Double) {
        guard var entry = keys.removeValue(forKey: key) else { return }
        let pause =
            entry.trust.refusal.map { FleetPause.refusal(after: $0.count, chance: chance) }
            ?? FleetPause.length(after: 1, chance: chance)
        rest(key, &entry, until: now + pause)
        keys[key] = entry
    }

    /// Ends the rest of a key.
    mutating func leaseRested(_ key: RuleKey) {
        guard var entry = keys.removeValue(forKey: key) else { return }
        entry.timer = nil
        entry.exchange.wake()
        if entry.isStarved || entry.unserved > 0 || entry.isWanted { order(key, &entry) }
        keys[key] = entry
    }

    private mutating func rest(_ key: RuleKey, _ entry: inout SharedKey, until end: Instant) {
        guard circuit.isShared, entry.exchange == .none else { return }
        entry.exchange.rest()
        entry.timer = timers.insert(.leaseRest(key), at: end)
    }

    private mutating func note(roundTrip sample: Duration) {
        roundTrip = max(sample, (roundTrip * 7 + sample) / 8)
    }
}
