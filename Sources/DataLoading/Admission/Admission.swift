// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Admits loads: gives each attempt a rate slot and a connection slot, in fair order.
///
/// Waiting loads queue in the lane of their rule key. A lane that cannot start its first load waits
/// for exactly one thing: an instant, a connection of its origin, any connection, its next turn, or
/// a change of its rate. When that comes, the lane is pumped, so the lanes are never polled.
final class Admission: Sendable {
    /// The answer to a load that asks for admission.
    enum Answer: Sendable {
        /// The load holds its slots and starts now.
        case admitted
        /// The load waits; `Waiting.admitted` will be called, unless the ticket is withdrawn.
        case queued(Ticket)
        /// The load will never be admitted.
        case refused(DataLoaderError)
    }

    private let limits: Limits
    private let limiter: RateLimiter
    private let timerQueue: TimerQueue
    private let state: Locked<Lanes>
    private let subscription = Locked<RateLimiter.Subscription?>(nil)

    init(limits: Limits, limiter: RateLimiter, timerQueue: TimerQueue) {
        self.limits = limits
        self.limiter = limiter
        self.timerQueue = timerQueue
        state = Locked(Lanes(limits: limits))
        // A strong reference, because a weak one would slow every other reference down; `close`
        // ends it.
        let changes = limiter.subscribe(demand: { rule in
            self.state.withLock { $0.demand(for: rule) }
        }) { change in self.rateChanged(change) }
        subscription.withLock { $0 = changes }
    }

    /// Ends the subscription to changes.
    ///
    /// Without it the limiter, which may be the user's, keeps this alive.
    func close() {
        // The subscription is released after the lock.
        _ = subscription.withLock { $0.take() }
    }

    /// The number of loads that wait, and of loads that hold slots.
    var load: (waiting: Int, running: Int) {
        state.withLock { ($0.waiting, $0.running) }
    }

    /// The origins with loads that wait or hold slots.
    var origins: [Origin: (waiting: Int, running: Int)] { state.withLock { $0.origins } }

    /// Whether it has no waiting load and no slot taken.
    var isIdle: Bool { state.withLock { $0.isEmpty } }

    /// Changes the lanes under the lock, and asks for what shared rates need after it.
    private func withLanes<Result: Sendable>(_ body: (inout Lanes) -> Result) -> Result {
        let (result, hasOrders) = state.withLock { lanes in
            lanes.hasOrders = false
            return (body(&lanes), lanes.hasOrders)
        }
        if hasOrders { limiter.carryOutOrders() }
        return result
    }

    private func reserve(_ key: RuleKey, _ lanes: inout Lanes) -> Reservation {
        limiter.reserve(key, hasOrders: &lanes.hasOrders)
    }

    /// Asks for a rate slot and a connection slot; the load must return granted slots by `leave`.
    func enter(_ application: Application) -> Answer {
        withLanes { lanes in
            if application.bypassesConnectionLimit {
                if reserve(application.key, &lanes) == .granted {
                    lanes[application.lane.use].start(application.origin)
                    return .admitted
                }
            } else if let room = lanes.room(for: application),
                reserve(application.key, &lanes) == .granted
            {
                lanes.start(application, in: room)
                return .admitted
            }
            // Other loads wait for the result of a bypassing load, so a full queue does not refuse
            // it.
            guard
                application.bypassesConnectionLimit || application.hasWaited
                    || lanes.waiting < limits.queue
            else {
                return .refused(.overloaded)
            }
            if let wait = hopelessWait(of: application, in: lanes) {
                return .refused(.rateLimited(wait: wait))
            }
            let ticket = lanes.append(application)
            // A lane that already waits for something keeps waiting for it.
            guard !lanes.isObstructed(application.lane) else { return .queued(ticket) }
            // Otherwise the lane was empty, so a load that starts now is this one.
            return pumpAlone(application.lane, &lanes).isEmpty ? .queued(ticket) : .admitted
        }
    }

    /// Returns the slot of an ended attempt and starts the loads that can use it.
    func leave(_ origin: Origin, _ use: SlotUse = .shared) {
        startOthers(of: use) { $0.finish(origin, use) }
    }

    /// Changes something about the slots of a use, and starts the loads that have a slot now.
    private func startOthers(of use: SlotUse, after change: (inout Lanes) -> Void) {
        let started = withLanes { lanes in
            change(&lanes)
            var started: [Candidate] = []
            while let key = lanes.next(of: use) {
                started += pump(key, &lanes, atMost: 1)
            }
            return started
        }
        admit(started)
    }

    func maximum(of use: SlotUse, for origin: Origin) -> Int {
        state.withLock { $0[use].maximum(for: origin) }
    }

    func setMaximum(_ maximum: Int?, of use: SlotUse, for origin: Origin) {
        startOthers(of: use) { $0.setMaximum(maximum, of: use, for: origin) }
    }

    func total(of use: SlotUse) -> Int { state.withLock { $0[use].total } }

    func setTotal(_ total: Int, of use: SlotUse) {
        startOthers(of: use) { $0[use].setTotal(total) }
    }

    /// Removes a load from the queue; false when it has already left, and its `Waiting` is called.
    func withdraw(_ ticket: Ticket) -> Bool {
        state.withLock { $0.remove(ticket, timerQueue) }
    }

    /// Gives a load in the queue another priority, and the place that it would have had with it.
    ///
    /// `priority` is called under the lock, so that of several calls the last one has the last word.
    func move(_ ticket: Ticket, to priority: () -> Priority) {
        state.withLock { $0.move(ticket, to: priority()) }
    }

    /// The wait of a load in the queue, if it ends after a deadline, which may be another load's.
    func wait(of ticket: Ticket, tooLongFor deadline: Instant) -> Duration? {
        state.withLock { lanes in
            let (remaining, rule) = (deadline - timerQueue.now, ticket.key.rule)
            // As in `hopelessWait`, the exact place costs more.
            guard let atEnd = limiter.wait(for: rule, position: lanes.length(ticket.key)),
                atEnd > remaining, let position = lanes.position(of: ticket),
                let inTurn = limiter.wait(for: rule, position: position), inTurn > remaining
            else { return nil }
            return inTurn
        }
    }

    private func admit(_ candidates: [Candidate]) {
        for candidate in candidates { candidate.waiting.admitted(epoch: candidate.epoch) }
    }

    /// Handles a changed rate or gate.
    ///
    /// Starts the loads that may start now, and refuses those that cannot start before their
    /// deadline.
    private func rateChanged(_ change: RateChange) {
        switch change {
        case .key: break
        case .part(let origin): askAgain([RuleKey(origin: origin)])
        case .all(let moved): askAgain(moved)
        }
        let (started, late, shared, number) = withLanes { lanes in
            lanes.noteChange()
            var started: [Candidate] = []
            var (late, shared): ([Lane.Judged], [Lane.Judged]) = ([], [])
            for key in changedLanes(change, lanes) {
                // A lane that waits for a connection keeps its place.
                let waits = lanes.waitsForConnection(key)
                started += waits ? pumpAlone(key.unlimited, &lanes) : pump(key, &lanes)
                // Nothing is known of the loads of a rate that is zero.
                guard limiter.wait(for: key.rule, position: 0) != nil else { continue }
                let judged = lanes.removeLate(key, timerQueue) {
                    limiter.wait(for: key.rule, position: $0)
                }
                late += judged.late
                shared += judged.shared
            }
            return (started, late, shared, lanes.changes)
        }
        admit(started)
        for (load, wait) in late {
            load.waiting.refused(epoch: load.epoch, .rateLimited(wait: wait))
        }
        for (load, wait) in shared {
            load.waiting.waits(for: state.withLock { $0.changes } == number ? wait : nil)
        }
    }

    private func changedLanes(_ change: RateChange, _ lanes: Lanes) -> [LaneKey] {
        switch change {
        case .key(let key):
            return LaneKey(rule: key).all
        case .part(let origin):
            return lanes.keys.filter { $0.rule.origin == origin }
        case .all:
            return lanes.keys
        }
    }

    /// Lets the waiting loads of keys ask anew, because they may belong to another key now.
    private func askAgain(_ keys: some Collection<RuleKey>) {
        guard !keys.isEmpty else { return }
        let moved = state.withLock { lanes in
            keys.flatMap { LaneKey(rule: $0).all }.flatMap { lanes.removeAll($0, timerQueue) }
        }
        for candidate in moved { candidate.waiting.mustAskAgain(epoch: candidate.epoch) }
    }

    /// Starts the loads of a rule whose next slot is due.
    func laneIsDue(_ key: LaneKey) {
        admit(withLanes { pumpInTurns(key, &$0) })
    }

    /// Starts the loads of a rule that may start now: the unlimited lane first, the others in
    /// turns.
    ///
    /// Otherwise the lane whose timer runs first would take every slot of a rate. A lane that waits
    /// for a connection keeps its place.
    private func pumpInTurns(_ key: LaneKey, _ lanes: inout Lanes) -> [Candidate] {
        var started = pumpAlone(key.unlimited, &lanes)
        guard !key.bypassesConnectionLimit else { return started }
        let ready = lanes.inTurn(key).filter { !lanes.waitsForConnection($0) }
        while true {
            let before = started.count
            for key in lanes.inTurn(key) where ready.contains(key) {
                started += pumpAlone(key, &lanes, atMost: 1)
            }
            if started.count == before { return started }
        }
    }

    /// Starts what a lane may start now, after the loads of its unlimited lane.
    private func pump(
        _ key: LaneKey, _ lanes: inout Lanes, atMost most: Int = .max
    ) -> [Candidate] {
        let first = key.bypassesConnectionLimit ? [] : pumpAlone(key.unlimited, &lanes)
        return first + pumpAlone(key, &lanes, atMost: most)
    }

    /// Starts what a lane may start now, and records what it waits for next.
    private func pumpAlone(
        _ key: LaneKey, _ lanes: inout Lanes, atMost most: Int = .max
    ) -> [Candidate] {
        var started: [Candidate] = []
        lanes.stopWaiting(key, timerQueue)
        while let origin = lanes.origin(of: key) {
            let turnIsOver: Lane.Obstacle? = started.count < most ? nil : .anotherTurn
            if let obstacle = lanes.fullLimit(of: key, at: origin) ?? turnIsOver {
                lanes.wait(key, for: obstacle)
                return started
            }
            switch reserve(key.rule, &lanes) {
            case .granted:
                guard let candidate = lanes.startFirst(key) else { continue }
                started.append(candidate)
            case .wait(until: let instant):
                let call = LaneCall(admission: self, key: key)
                lanes.wait(key, for: .instant(timerQueue.schedule(at: instant, for: call, tag: 0)))
                return started
            case .paused:
                lanes.wait(key, for: .change)
                return started
            }
        }
        return started
    }

    /// The wait of a load that could not start before its deadline; nil for any other load.
    private func hopelessWait(of application: Application, in lanes: Lanes) -> Duration? {
        let deadline = application.candidate.deadline
        guard deadline < .distantFuture else { return nil }
        let remaining = deadline - timerQueue.now
        func wait(_ position: Int) -> Duration? {
            limiter.wait(for: application.key, position: position)
        }
        guard let atEnd = wait(lanes.length(application.lane)) else { return nil }
        guard atEnd > remaining else { return nil }  // The exact place costs more to find.
        guard let inTurn = wait(lanes.position(of: application)), inTurn > remaining else {
            return nil
        }
        return inTurn
    }
}
