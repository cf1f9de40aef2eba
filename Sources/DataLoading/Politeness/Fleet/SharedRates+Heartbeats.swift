// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension SharedRates {
    /// Asks for a heartbeat, unless one is under way.
    mutating func orderHeartbeat() {
        if circuit.isEnded { return }
        if heartbeat.order() { add(.heartbeat) }
    }

    /// Begins a heartbeat; nil if there is to be none any more.
    mutating func beginHeartbeat(at now: Instant) -> UInt64? {
        let number = nextNumber()
        guard heartbeat.begin(number, at: now) else { return nil }
        heartbeatTimer = timers.insert(
            .heartbeatLimit(number: number), at: now + FleetCircuit.answerLimit)
        return number
    }

    /// Notes the answer to a heartbeat; returns whether all waiting loads are to ask again.
    mutating func heartbeatAnswered(
        _ number: UInt64, _ view: FleetView, at now: Instant, chance: Double
    ) -> Bool {
        guard let sent = heartbeat.end(number) else {
            restHeartbeat(until: now + FleetPause.length(after: failures, chance: chance))
            return false
        }
        failures = 0
        if gatheringEnd == nil { gather(at: now) }
        let isReturn = storeHeard(at: now)
        lastHeartbeat = sent
        members.saw(view, at: now)
        let isGathering = members.portion < 1 && gatheringEnd.map { now < $0 } ?? false
        let pause = isGathering ? FleetPause.gathering : FleetPause.heartbeat
        restHeartbeat(until: max(now, sent + pause))
        return dropDistant(at: now) || isReturn
    }

    /// Watches closely for a while which of the daemons come back.
    mutating func gather(at now: Instant) {
        gatheringEnd = now + FleetPause.gatheringLength
        guard heartbeat == .resting else { return }
        heartbeat.wake()
        if let timer = heartbeatTimer.take() { _ = timers.remove(timer) }
        orderHeartbeat()
    }

    /// Drops slots that are far away because they were leased at a small part of the rate.
    ///
    /// At low rates they may be minutes away, and a daemon that has a slot asks for no earlier one.
    private mutating func dropDistant(at now: Instant) -> Bool {
        var isChange = false
        for (key, entry) in keys {
            guard case .later(let start) = entry.slots.first(at: now),
                let interval = entry.slots.interval,
                interval.inSeconds * members.portion > entry.interval.inSeconds * 1.01
            else { continue }
            let furthest = now + max(window, entry.interval * members.known) * 2
            guard start > furthest else { continue }
            keys[key]?.slots = LeasedSlots()
            keys[key]?.reach = min(entry.reach ?? furthest, furthest)
            keys[key]?.nextStart = nil
            keys[key]?.ownShare.lineIsGone(at: now, interval: entry.interval * members.known)
            isChange = true
        }
        return isChange
    }

    /// Notes that a heartbeat has no answer.
    mutating func heartbeatFailed(_ number: UInt64, at now: Instant, chance: Double) {
        if heartbeat.end(number) != nil { failures += 1 }
        restHeartbeat(until: now + FleetPause.length(after: failures, chance: chance))
    }

    /// Notes that the time for the answer to a heartbeat is over.
    mutating func heartbeatExpired(_ number: UInt64) {
        guard heartbeat.expire(number) else { return }
        heartbeatTimer = nil
        failures += 1
    }

    private mutating func restHeartbeat(until end: Instant) {
        if circuit.isEnded { return }
        guard heartbeat == .none else { return }
        heartbeat.rest()
        if let timer = heartbeatTimer.take() { _ = timers.remove(timer) }
        heartbeatTimer = timers.insert(.heartbeatRest, at: end)
    }

    // MARK: Gates

    /// Tells the others that a key is closed until an instant.
    mutating func close(_ key: RuleKey, until end: Instant) {
        if circuit.isEnded { return }
        var closing = closings[key] ?? GateClosing(end: end)
        closing.end = max(closing.end, end)
        if closing.exchange.order() { add(.close(key)) }
        closings[key] = closing
    }

    /// Begins to tell of a gate; nil if it is over.
    mutating func beginClosing(
        _ key: RuleKey, at now: Instant
    ) -> (delay: Duration, number: UInt64)? {
        guard var closing = closings.removeValue(forKey: key), closing.end > now else {
            return nil
        }
        let number = nextNumber()
        guard closing.exchange.begin(number, at: now) else {
            closings[key] = closing
            return nil
        }
        closing.told = closing.end
        closings[key] = closing
        return (closing.end - now, number)
    }

    /// Notes whether the others were told of a gate.
    mutating func closingEnded(
        _ key: RuleKey, _ number: UInt64, isTold: Bool, at now: Instant, chance: Double
    ) {
        guard var closing = closings.removeValue(forKey: key) else { return }
        _ = closing.exchange.end(number)
        if isTold, closing.told == closing.end || closing.end <= now { return }
        if isTold {
            closing.failures = 0
            if closing.exchange.order() { add(.close(key)) }
        } else {
            closing.failures += 1
            closing.exchange.rest()
            _ = timers.insert(
                .closeRest(key),
                at: now + FleetPause.closing(after: closing.failures, chance: chance))
        }
        closings[key] = closing
    }

    /// Tells of all gates now, since the store has come back.
    mutating func tellOfGates() {
        for key in closings.keys {
            closings[key]?.failures = 0
            closingRested(key)
        }
    }

    mutating func closingRested(_ key: RuleKey) {
        closings[key]?.exchange.wake()
        if closings[key]?.exchange.order() == true { add(.close(key)) }
    }
}
