// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Whose loads are to ask for slots again.
struct AskAgain: Hashable, Sendable {
    /// All: the store is lost.
    var everybody = false
    /// Those of keys that are lost alone.
    var keys: [RuleKey] = []

    static func += (left: inout AskAgain, right: AskAgain) {
        left.everybody = left.everybody || right.everybody
        left.keys += right.keys
    }
}

extension SharedRates {
    /// Decides whether a failure is one of the store, or of a key alone.
    mutating func keyFailed(
        _ key: RuleKey, sentAt sent: Instant, at now: Instant, chance: Double
    ) -> AskAgain {
        let isFirst = keys[key]?.trust == .trusted
        keys[key]?.trust.failed(sentAt: sent, at: now)
        if isFirst { _ = timers.insert(.keyPatience(key), at: max(now, sent + patience)) }
        if isAlone(key) { return giveUp(key, at: now, chance: chance) }
        return AskAgain(everybody: storeFailed(sentAt: sent, at: now, chance: chance))
    }

    /// Lets the loads of a key continue without a store that answers about others.
    private mutating func giveUp(_ key: RuleKey, at now: Instant, chance: Double) -> AskAgain {
        let limit = patience
        guard circuit.isShared, isAlone(key),
            keys[key]?.trust.giveUp(after: limit, at: now, phase: chance) ?? false
        else { return AskAgain() }
        return AskAgain(keys: [key])
    }

    /// Whether the store has answered about other keys since this one began to fail.
    private func isAlone(_ key: RuleKey) -> Bool {
        guard let lastAnswer, let since = keys[key]?.trust.failingSince else { return false }
        return lastAnswer > since
    }

    /// Notes that the store has not answered; returns whether waiting loads are to ask again.
    private mutating func storeFailed(
        sentAt sent: Instant, at now: Instant, chance: Double
    ) -> Bool {
        let before = patienceEnd
        circuit.failed(sentAt: sent)
        guard let end = patienceEnd else { return false }
        if end <= now { return loseIfStarved(at: now, chance: chance) }
        if end != before {
            _ = timers.insert(.patience, at: end)
            patienceTimers += 1
        }
        return false
    }

    /// Notes that the patience has ended; returns whether waiting loads are to ask again.
    private mutating func patienceEnded(at now: Instant, chance: Double) -> Bool {
        guard let end = patienceEnd, end <= now else { return false }
        return loseIfStarved(at: now, chance: chance)
    }

    private mutating func loseIfStarved(at now: Instant, chance: Double) -> Bool {
        guard isAwaited else { return false }
        phase = chance
        lose(at: now)
        return true
    }

    /// Notes that the store has answered about a key; returns whether it was lost before.
    mutating func storeAnswered(at now: Instant) -> Bool {
        circuit.noteLease()
        return storeHeard(at: now)
    }

    /// Notes that the store has answered anything; returns whether it was lost before, and is to be
    /// asked about keys again.
    mutating func storeHeard(at now: Instant) -> Bool {
        // Otherwise loads wait for an answer about a key, which is what counts.
        if patienceEnd != nil, !isAwaited { circuit.calm() }
        guard circuit.answered(at: now) else { return false }
        wasMissed = lastHeartbeat.map { now - $0 > FleetCounts.presence } ?? true
        members.storeIsBack(at: now)
        gather(at: now)
        tellOfGates()
        return true
    }

    /// Continues without the store, and asks it for a heartbeat to find out when it is back.
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
        patienceTimers = 0
        _ = takeOrders()
    }

    /// Handles the timers that are due; returns whose loads are to ask again.
    mutating func wake(at now: Instant, chance: Double) -> AskAgain {
        var news = AskAgain()
        while let timer = timers.popFirst(notAfter: now) {
            switch timer {
            case .leaseLimit(let key, let number):
                news += leaseExpired(key, number, at: now, chance: chance)
            case .keyPatience(let key): news += giveUp(key, at: now, chance: chance)
            case .leaseRest(let key): leaseRested(key)
            case .closeRest(let key): closingRested(key)
            case .heartbeatLimit(let number): heartbeatExpired(number)
            case .heartbeatRest:
                heartbeatTimer = nil
                heartbeat.wake()
                orderHeartbeat()
            case .patience:
                patienceTimers -= 1
                if patienceEnded(at: now, chance: chance) { news.everybody = true }
            }
        }
        return news
    }
}
