// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension SharedRates {
    /// Notes that the store has not answered; returns whether waiting loads are to ask again.
    mutating func storeFailed(
        sentAt sent: Instant, at now: Instant, chance: Double
    ) -> Bool {
        let wasWell = patienceEnd == nil
        circuit.failed(sentAt: sent)
        guard let end = patienceEnd else { return false }
        if end <= now { return loseIfStarved(at: now, chance: chance) }
        if wasWell { _ = timers.insert(.patience, at: end) }
        return false
    }

    /// Notes that the patience has ended; returns whether waiting loads are to ask again.
    private mutating func patienceEnded(at now: Instant, chance: Double) -> Bool {
        guard let end = patienceEnd, end <= now else { return false }
        return loseIfStarved(at: now, chance: chance)
    }

    private mutating func loseIfStarved(at now: Instant, chance: Double) -> Bool {
        guard keys.values.contains(where: \.isStarved) else { return false }
        phase = chance
        lose(at: now)
        return true
    }

    /// Notes that the store has answered; returns whether it was lost before.
    mutating func storeAnswered(at now: Instant) -> Bool {
        guard circuit.answered() else { return false }
        gather(at: now)
        return true
    }

    /// Goes on without the store, and asks it for a heartbeat to find out when it is back.
    mutating func lose(at now: Instant) {
        circuit.lose(at: now)
        for key in keys.keys {
            keys[key]?.isStarved = false
            keys[key]?.unserved = 0
            if keys[key]?.exchange == .ordered { keys[key]?.exchange = .none }
        }
        // One that is under way is a probe already.
        heartbeat.wake()
        if let timer = heartbeatTimer.take() { _ = timers.remove(timer) }
        orderHeartbeat()
        if case .sent(let number, let sent) = heartbeat {
            heartbeatTimer = timers.insert(
                .heartbeatLimit(number: number), at: sent + FleetCircuit.answerLimit)
        }
    }

    /// Ends everything, before the goodbye.
    mutating func end(at now: Instant) {
        circuit.end(at: now)
        keys = [:]
        closings = [:]
        heartbeat = .none
        timers = TimedElements()
        _ = takeOrders()
    }

    /// Handles the timers that are due; returns whether all waiting loads are to ask again.
    mutating func wake(at now: Instant, chance: Double) -> Bool {
        var isChange = false
        while let timer = timers.popFirst(notAfter: now) {
            switch timer {
            case .leaseLimit(let key, let number):
                if leaseExpired(key, number, at: now, chance: chance) { isChange = true }
            case .leaseRest(let key): leaseRested(key)
            case .closeRest(let key): closingRested(key)
            case .heartbeatLimit(let number): heartbeatExpired(number)
            case .heartbeatRest:
                heartbeatTimer = nil
                heartbeat.wake()
                orderHeartbeat()
            case .patience:
                if patienceEnded(at: now, chance: chance) { isChange = true }
            }
        }
        return isChange
    }
}
