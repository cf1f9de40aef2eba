// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Who goes next: the one place where a load gets a rate slot and a connection slot.
///
/// Loads that wait stand in the lane of their rule key. A lane that cannot start its first load
/// waits for exactly one thing: an instant, a connection of its origin, a connection at all, or a
/// change of its rate. When that comes, the lane is pumped, so nothing is ever scanned.
final class Admission: Sendable {
    /// What became of a load that asked to go.
    enum Answer: Sendable {
        /// It holds its slots and goes now.
        case admitted
        /// It waits; `Waiting.admitted` will be called, unless the ticket is given back.
        case queued(Ticket)
        /// It will never go.
        case refused(DataLoaderError)
    }

    /// A place in a lane.
    struct Ticket: Hashable, Sendable {
        let key: LaneKey
        /// Which of the key's lanes: one that was forgotten and made anew counts places anew too.
        let lane: UInt64
        let place: FairQueue<Candidate>.Ticket
    }

    /// A load that waits, and which of its turns it is.
    struct Candidate: Sendable {
        let waiting: any Waiting
        let turn: Int
        /// When the load's deadline passes, nil when it has none.
        let deadline: Instant?
    }

    /// What a load says of itself when it asks to go.
    struct Application: Sendable {
        let candidate: Candidate
        let key: RuleKey
        let origin: Origin
        let loader: ObjectIdentifier
        let priority: Priority
        /// Whether it goes though every connection is taken, as soon as its rate lets it: the loads that
        /// have them may be waiting for what it brings.
        var needsNoConnection = false
        /// Whether it had a place in the queue already, which a change of rates does not take away.
        var hasWaited = false

        var lane: LaneKey { LaneKey(rule: key, needsNoConnection: needsNoConnection) }
    }

    private let limits: Limits
    private let limiter: RateLimiter
    private let agenda: Agenda
    private let state: Locked<Lanes>
    private let subscription = Locked<RateLimiter.Subscription?>(nil)

    init(limits: Limits, limiter: RateLimiter, agenda: Agenda) {
        self.limits = limits
        self.limiter = limiter
        self.agenda = agenda
        state = Locked(Lanes(limits: limits))
        // Not weakly, which would slow every reference down: `close` ends it.
        let changes = limiter.subscribe { change in self.rateChanged(change) }
        subscription.withLock { $0 = changes }
    }

    /// Hears of no change any more; without it the limiter, which may be the user's, keeps this.
    func close() {
        // The subscription is let go after the lock.
        _ = subscription.withLock { $0.take() }
    }

    /// How many loads wait, and how many hold slots.
    var load: (waiting: Int, running: Int) {
        state.withLock { ($0.waiting, $0.running) }
    }

    /// Whether it keeps nothing at all.
    var isIdle: Bool { state.withLock { $0.isEmpty } }

    /// Asks for a rate slot and a connection slot; a slot that was given must be given back by `leave`.
    func enter(_ application: Application) -> Answer {
        state.withLock { lanes in
            let mayStart = application.needsNoConnection || lanes.canStartAtOnce(application)
            if mayStart, limiter.reserve(application.key) == .granted {
                lanes.start(application.origin)
                return .admitted
            }
            // What others wait for is not refused because they wait.
            guard
                application.needsNoConnection || application.hasWaited
                    || lanes.waiting < limits.queue
            else {
                return .refused(.overloaded)
            }
            if let wait = hopelessWait(of: application, in: lanes) {
                return .refused(.rateLimited(wait: wait))
            }
            let ticket = lanes.append(application)
            // A lane that already waits for something goes on waiting for it.
            guard !lanes.isObstructed(application.lane) else { return .queued(ticket) }
            // Otherwise nobody else can be in it, so whoever starts now is this load.
            return pumpAlone(application.lane, &lanes).isEmpty ? .queued(ticket) : .admitted
        }
    }

    /// Gives the slot of an attempt that has ended to whoever waits for it.
    func leave(_ origin: Origin) {
        let started = state.withLock { lanes in
            lanes.finish(origin)
            var started: [Candidate] = []
            while let key = lanes.nextForFreedSlot {
                started += pump(key, &lanes, atMost: 1)
            }
            return started
        }
        admit(started)
    }

    /// Takes a load out of the queue; false when it was admitted meanwhile and will be told.
    func withdraw(_ ticket: Ticket) -> Bool {
        state.withLock { $0.remove(ticket, agenda) }
    }

    private func admit(_ candidates: [Candidate]) {
        for candidate in candidates { candidate.waiting.admitted(turn: candidate.turn) }
    }

    /// A rate was set or a gate closed: some may go now, and some will never go in time.
    private func rateChanged(_ change: RateChange) {
        if case .part(let origin) = change { askAgain(origin) }
        let (started, hopeless) = state.withLock { lanes in
            var started: [Candidate] = []
            var hopeless: [(Candidate, Duration)] = []
            for key in changedLanes(change, lanes) {
                started += pump(key, &lanes)
                guard lanes.length(key) > 0,
                    let wait = limiter.wait(for: key.rule, position: 0)
                else { continue }
                let late = lanes.removeAll(key, dueBefore: agenda.now + wait, agenda)
                hopeless += late.map { ($0, wait) }
            }
            return (started, hopeless)
        }
        admit(started)
        for (candidate, wait) in hopeless {
            candidate.waiting.refused(turn: candidate.turn, .rateLimited(wait: wait))
        }
    }

    private func changedLanes(_ change: RateChange, _ lanes: Lanes) -> [LaneKey] {
        switch change {
        case .key(let key):
            let lane = LaneKey(rule: key)
            return [lane.express, lane]
        case .part(let origin):
            return lanes.keys.filter { $0.rule.origin == origin }
        }
    }

    /// A rule for a part of an origin was set: who waits for the origin may belong to that part.
    private func askAgain(_ origin: Origin) {
        let whole = LaneKey(rule: RuleKey(origin: origin))
        let moved = state.withLock { lanes in
            [whole.express, whole].flatMap { lanes.removeAll($0, agenda) }
        }
        for candidate in moved { candidate.waiting.mustAskAgain(turn: candidate.turn) }
    }

    fileprivate func laneIsDue(_ key: LaneKey) {
        admit(state.withLock { pump(key, &$0) })
    }

    /// Starts what a lane may start now, after those of its rule that go first.
    private func pump(
        _ key: LaneKey, _ lanes: inout Lanes, atMost most: Int = .max
    ) -> [Candidate] {
        let first = key.needsNoConnection ? [] : pumpAlone(key.express, &lanes)
        return first + pumpAlone(key, &lanes, atMost: most)
    }

    /// Starts what a lane may start now, and notes what it waits for next.
    private func pumpAlone(
        _ key: LaneKey, _ lanes: inout Lanes, atMost most: Int = .max
    ) -> [Candidate] {
        var started: [Candidate] = []
        lanes.stopWaiting(key, agenda)
        while let origin = lanes.origin(of: key) {
            if let obstacle = (key.needsNoConnection ? nil : lanes.fullLimit(for: origin))
                ?? (started.count < most ? nil : .anotherTurn)
            {
                lanes.wait(key, for: obstacle)
                return started
            }
            switch limiter.reserve(key.rule) {
            case .granted:
                guard let candidate = lanes.startFirst(key) else { continue }
                started.append(candidate)
            case .wait(until: let instant):
                let call = LaneCall(admission: self, key: key)
                lanes.wait(key, for: .instant(agenda.schedule(at: instant, for: call, tag: 0)))
                return started
            case .paused:
                lanes.wait(key, for: .change)
                return started
            }
        }
        return started
    }

    /// The wait of a load that could not be over before its deadline.
    private func hopelessWait(of application: Application, in lanes: Lanes) -> Duration? {
        guard let deadline = application.candidate.deadline else { return nil }
        let remaining = deadline - agenda.now
        func wait(_ position: Int) -> Duration? {
            limiter.wait(for: application.key, position: position)
        }
        // The exact place is worth finding out only when the end of the line is too late.
        guard let atEnd = wait(lanes.length(application.lane)) else { return nil }
        guard atEnd > remaining else { return nil }
        guard let inTurn = wait(lanes.position(of: application)), inTurn > remaining else {
            return nil
        }
        return inTurn
    }
}

/// A load that waits for admission.
protocol Waiting: AnyObject, Sendable {
    /// The load holds its slots; called once for a ticket that was not withdrawn, under no lock.
    func admitted(turn: Int)
    /// The load's key may be another; called instead of `admitted`, under no lock.
    func mustAskAgain(turn: Int)
    /// The load cannot go before its deadline; called instead of `admitted`, under no lock.
    func refused(turn: Int, _ error: DataLoaderError)
}

/// Wakes a lane when its next slot has come.
private final class LaneCall: Punctual {
    private let admission: Admission
    private let key: LaneKey

    init(admission: Admission, key: LaneKey) {
        self.admission = admission
        self.key = key
    }

    func isDue(_ tag: Int) {
        admission.laneIsDue(key)
    }
}
