// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting

/// Daemons that share one rate, their store, and the ways between them, in virtual time.
///
/// All runs in one thread and in an order that the seed decides.
struct VirtualFleet {
    enum Call: Sendable {
        case lease(QuotaRequest, UInt64)
        case close(Duration, UInt64)
        case heartbeat(UInt64)
    }

    enum Reply: Sendable {
        case lease(QuotaLease)
        case closed
        case heartbeat(FleetPulse)
        case failure
    }

    enum Event: Sendable {
        case pump(Int, life: Int)
        case wake(Int, life: Int)
        case atStore(Int, life: Int, Call)
        case reply(Int, life: Int, Call, Reply)
        case deadlines(Int, life: Int)
    }

    struct FleetPulse: Sendable {
        var counts: FleetCounts.Pulse
        var gate: Duration
    }

    struct Admission: Sendable {
        let at: Int64
        let daemon: Int
        /// Whether it used the daemon's own share.
        let isOwn: Bool
    }

    static let key = RuleKey(origin: Origin(isSecure: false, host: "origin.test", port: 80))

    var now = Instant(nanoseconds: 1_000_000_000)
    var daemons: [VirtualDaemon] = []
    var line = QuotaLine()
    var gate = 0.0
    var members: [String: Double] = [:]
    var departures: Int64 = 0
    /// The daemons that have said goodbye.
    var left: Set<String> = []
    /// How far the store's clock is ahead, in microseconds.
    var shift = 0.0
    var operations = 0
    var heartbeats = 0
    var admissions: [Admission] = []
    /// How late a daemon's timers may be, in nanoseconds.
    var lateness: Int64 = 0
    var rule: RateRule
    let policy: LossPolicy
    let expected: Int
    var events = TimedElements<Event>()
    var generator: SeededGenerator
    var lives = 0

    init(
        _ count: Int, rate: Double, burst: Int = 1, policy: LossPolicy = .share(for: nil),
        expected: Int? = nil, seed: UInt64 = 1
    ) {
        generator = SeededGenerator(seed: seed)
        rule = (try? RateRule(requestsPerSecond: rate, burst: burst)) ?? .off
        self.policy = policy
        self.expected = expected ?? count
        for index in 0..<count { daemons.append(makeDaemon(index)) }
        for index in 0..<count { carryOut(index) }
    }

    mutating func makeDaemon(_ index: Int) -> VirtualDaemon {
        lives += 1
        return VirtualDaemon(
            "\(index).\(lives)", life: lives, rule: rule, members: expected, policy: policy)
    }

    var chance: Double {
        mutating get { Double.random(in: 0..<1, using: &generator) }
    }

    mutating func handle(_ event: Event) {
        switch event {
        case .pump(let index, let life):
            guard daemons[index].life == life, let next = daemons[index].nextPump, next <= now
            else { return }
            pump(index)
        case .wake(let index, let life):
            guard daemons[index].life == life, daemons[index].isRunning else { return }
            daemons[index].nextWake = nil
            let chance = chance
            let news = daemons[index].table.shared?.wake(at: now, chance: chance)
            carryOut(index)
            if news.map({ $0 != AskAgain() }) ?? false { changed(index) }
        case .atStore(let index, let life, let call):
            let reply = answer(call, from: index)
            let faults = daemons[index].faults
            guard daemons[index].life == life, !faults.isCutOff, chance >= faults.loss else {
                return
            }
            send(.reply(index, life: life, call, reply), way: faults.delay)
        case .reply(let index, let life, let call, let reply):
            guard daemons[index].life == life, daemons[index].isRunning else { return }
            note(reply, to: call, index)
        case .deadlines(let index, let life):
            guard daemons[index].life == life else { return }
            let kept = daemons[index].loads.filtered { $0.deadline > now }
            daemons[index].timedOut += daemons[index].loads.count - kept.count
            daemons[index].loads = kept
        }
    }

    mutating func send(_ event: Event, way: Int64) {
        let time = way > 0 ? Int64.random(in: 0...way, using: &generator) : 0
        _ = events.insert(event, at: now.advanced(byNanoseconds: time))
    }

    /// Starts what may start.
    mutating func pump(_ index: Int) {
        daemons[index].nextPump = nil
        guard daemons[index].isRunning else { return }
        loop: while daemons[index].isBusy {
            let before = daemons[index].table.shared?.keys[Self.key]?.slots.count
            switch daemons[index].table.reserve(Self.key, at: now) {
            case .granted:
                let after = daemons[index].table.shared?.keys[Self.key]?.slots.count
                let isOwn = before == after
                admissions.append(
                    Admission(at: now.nanoseconds, daemon: index, isOwn: isOwn))
                daemons[index].admitted += 1
                if daemons[index].keepsWaiting == 0 { _ = daemons[index].loads.popFirst() }
                daemons[index].isPaused = false
            case .wait(let instant):
                let late = lateness > 0 ? Int64.random(in: 0...lateness, using: &generator) : 0
                let next = max(now, instant).advanced(byNanoseconds: late)
                daemons[index].nextPump = next
                daemons[index].isPaused = false
                _ = events.insert(.pump(index, life: daemons[index].life), at: next)
                break loop
            case .paused:
                daemons[index].isPaused = true
                break loop
            }
        }
        if !daemons[index].isBusy { daemons[index].isPaused = false }
        carryOut(index)
    }

    /// What `Admission` does after a change: pumps, and refuses who would wait for too long.
    mutating func changed(_ index: Int) {
        pump(index)
        guard !daemons[index].loads.isEmpty, daemons[index].keepsWaiting == 0,
            let start = daemons[index].table.start(Self.key, position: 0, at: now)
        else { return }
        let kept = daemons[index].loads.filtered { $0.deadline >= start }
        let refused = daemons[index].loads.count - kept.count
        for _ in 0..<refused { daemons[index].refused.append(start - now) }
        daemons[index].loads = kept
    }

    /// What `LeaseKeeper` does.
    mutating func carryOut(_ index: Int) {
        let life = daemons[index].life
        for order in daemons[index].table.shared?.takeOrders() ?? [] {
            switch order {
            case .lease(let key):
                daemons[index].table.shared?.prepare(key)
                let demand = daemons[index].demand
                let rule = daemons[index].table.rule(for: key)
                guard
                    let (request, number) = daemons[index].table.shared?.begin(
                        key, rule, demand, at: now)
                else { continue }
                ask(.lease(request, number), index)
            case .close(let key):
                guard
                    let (delay, number) = daemons[index].table.shared?.beginClosing(key, at: now)
                else { continue }
                ask(.close(delay, number), index)
            case .heartbeat:
                guard let number = daemons[index].table.shared?.beginHeartbeat(at: now) else {
                    continue
                }
                ask(.heartbeat(number), index)
            }
        }
        if daemons[index].table.shared?.hasOrders ?? false { return carryOut(index) }
        guard let earliest = daemons[index].table.shared?.timers.earliest,
            earliest < daemons[index].nextWake ?? .distantFuture
        else { return }
        daemons[index].nextWake = earliest
        _ = events.insert(.wake(index, life: life), at: max(now, earliest))
    }

    /// Sends a call; a provider gives up after 250 ms.
    mutating func ask(_ call: Call, _ index: Int) {
        let (faults, life) = (daemons[index].faults, daemons[index].life)
        let patience = faults.isCutOff && faults.isRefused ? .zero : Duration.milliseconds(250)
        _ = events.insert(.reply(index, life: life, call, .failure), at: now + patience)
        guard !faults.isCutOff, chance >= faults.loss else { return }
        send(.atStore(index, life: life, call), way: faults.delay)
        if chance < faults.duplicates { send(.atStore(index, life: life, call), way: faults.delay) }
    }

    mutating func note(_ reply: Reply, to call: Call, _ index: Int) {
        let chance = chance
        switch (call, reply) {
        case (.lease(_, let number), .lease(let lease)):
            let news = daemons[index].table.shared?.answered(Self.key, number, lease, at: now)
            var isChange = news?.isChange ?? false || news?.isReturn ?? false
            if let gate = news?.gate,
                daemons[index].table.learn(gate, for: Self.key, at: now)
            {
                isChange = true
            }
            carryOut(index)
            if isChange { changed(index) }
            return
        case (.lease(_, let number), _):
            let news = daemons[index].table.shared?.failed(
                Self.key, number, at: now, chance: chance)
            carryOut(index)
            if news.map({ $0 != AskAgain() }) ?? false { changed(index) }
            return
        case (.close(_, let number), _):
            var isTold = false
            if case .closed = reply { isTold = true }
            daemons[index].table.shared?.closingEnded(
                Self.key, number, isTold: isTold, at: now, chance: chance)
        case (.heartbeat(let number), .heartbeat(let pulse)):
            let isReturn = hear(pulse, number, index, chance)
            carryOut(index)
            if isReturn { changed(index) }
            return
        case (.heartbeat(let number), _):
            daemons[index].table.shared?.heartbeatFailed(number, at: now, chance: chance)
        }
        carryOut(index)
    }

    mutating func hear(
        _ pulse: FleetPulse, _ number: UInt64, _ index: Int, _ chance: Double
    ) -> Bool {
        daemons[index].counts.add(pulse.counts, at: now)
        let known = daemons[index].counts.known(at: now)
        let present = pulse.counts.present
        let isReturn = daemons[index].table.shared?.heartbeatAnswered(
            number, FleetView(present: present, known: known), at: now, chance: chance)
        let isClosed =
            pulse.gate > .zero
            && daemons[index].table.learn(now + pulse.gate, for: Self.key, at: now)
        return (isReturn ?? false) || isClosed
    }
}
