// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The key of a lane: loads of one rule that wait for the same kind of slot, or for none.
struct LaneKey: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Waits for its rate only.
        case unlimited
        case shared
        case stream
    }

    let rule: RuleKey
    var kind = Kind.shared

    /// The lane of the same rule that is served first.
    var unlimited: LaneKey { LaneKey(rule: rule, kind: .unlimited) }
    /// The lanes of the same rule that take turns.
    var inTurns: [LaneKey] { [LaneKey(rule: rule), LaneKey(rule: rule, kind: .stream)] }
    /// Every lane of the same rule, the unlimited lane first.
    var all: [LaneKey] { [unlimited] + inTurns }
    /// The slots that its loads hold once they have started.
    var use: SlotUse { kind == .stream ? .stream : .shared }
    var bypassesConnectionLimit: Bool { kind == .unlimited }
}

/// The lanes of waiting loads and the slots taken: the state behind `Admission`'s lock.
struct Lanes: Sendable {
    private var lanes: [LaneKey: Lane] = [:]
    private var lastLane: UInt64 = 0
    private var shared: SlotPool
    private var streams: SlotPool
    private(set) var waiting = 0
    /// Whether the limiter has orders to carry out once the lock is released.
    var hasOrders = false
    /// The number of changes after which waits of before may be wrong.
    private(set) var changes: UInt64 = 0

    init(limits: Limits) {
        shared = SlotPool(perOrigin: limits.perOrigin, total: limits.total)
        streams = SlotPool(perOrigin: limits.streamsPerOrigin, total: limits.streams)
    }

    var isEmpty: Bool { lanes.isEmpty && shared.isEmpty && streams.isEmpty }
    var running: Int { shared.running + streams.running }
    var keys: [LaneKey] { Array(lanes.keys) }

    func length(_ key: LaneKey) -> Int { lanes[key]?.queue.count ?? 0 }

    /// The loads that wait for slots of a rule; the deadline may be that of one that waits no more.
    func demand(for rule: RuleKey) -> SlotDemand {
        var demand = SlotDemand()
        for key in LaneKey(rule: rule).all {
            guard let lane = lanes[key], !lane.queue.isEmpty else { continue }
            demand += SlotDemand(count: lane.queue.count, latest: lane.latestDeadline)
        }
        return demand
    }

    func position(of application: Admission.Application) -> Int {
        lanes[application.lane]?.queue
            .position(loader: application.loader, priority: application.priority) ?? 0
    }

    /// The place of a waiting load; nil when it does not wait.
    func position(of ticket: Admission.Ticket) -> Int? { lanes[ticket.key]?.position(of: ticket) }

    /// The origins with loads that wait or hold slots.
    var origins: [Origin: (waiting: Int, running: Int)] {
        var found = shared.taken.merging(streams.taken, uniquingKeysWith: +)
            .mapValues { (waiting: 0, running: $0) }
        for lane in lanes.values {
            found[lane.origin, default: (0, 0)].waiting += lane.queue.count
        }
        return found
    }

    // MARK: Slots

    subscript(use: SlotUse) -> SlotPool {
        @inline(__always) _read {
            switch use {
            case .shared: yield shared
            case .stream: yield streams
            }
        }
        @inline(__always) _modify {
            switch use {
            case .shared: yield &shared
            case .stream: yield &streams
            }
        }
    }

    // What follows names the pools instead of using the subscript, whose accessor allocates: most of
    // it runs for every load.

    /// The room for a load that starts at once; nil when loads wait in its lane, or when a
    /// connection limit has no room.
    func room(for application: Admission.Application) -> SlotPool.Room? {
        guard lanes.isEmpty || lanes[application.lane] == nil else { return nil }
        switch application.use {
        case .shared: return shared.room(for: application.origin)
        case .stream: return streams.room(for: application.origin)
        }
    }

    mutating func start(_ application: Admission.Application, in room: SlotPool.Room) {
        switch application.use {
        case .shared: shared.start(application.origin, in: room)
        case .stream: streams.start(application.origin, in: room)
        }
    }

    private func fullLimit(of use: SlotUse, at origin: Origin) -> SlotPool.Full? {
        switch use {
        case .shared: shared.fullLimit(for: origin)
        case .stream: streams.fullLimit(for: origin)
        }
    }

    mutating func finish(_ origin: Origin, _ use: SlotUse) {
        switch use {
        case .shared: waitForAny(shared.finish(origin))
        case .stream: waitForAny(streams.finish(origin))
        }
    }

    /// The lane to pump after a slot was freed.
    func next(of use: SlotUse) -> LaneKey? {
        switch use {
        case .shared: shared.next
        case .stream: streams.next
        }
    }

    /// The connection limit that prevents another start of a lane; nil when both have room.
    func fullLimit(of key: LaneKey, at origin: Origin) -> Lane.Obstacle? {
        guard !key.bypassesConnectionLimit, let limit = fullLimit(of: key.use, at: origin) else {
            return nil
        }
        switch limit {
        case .origin: return .originLimit
        case .total: return .totalLimit
        }
    }

    mutating func setMaximum(_ maximum: Int?, of use: SlotUse, for origin: Origin) {
        waitForAny(self[use].setMaximum(maximum, for: origin))
    }

    private mutating func waitForAny(_ moved: [SlotPool.Moved]) {
        for (key, place) in moved {
            lanes[key]?.obstacle = .totalLimit
            lanes[key]?.place = place
        }
    }

    // MARK: Waiting loads

    mutating func append(_ application: Admission.Application) -> Admission.Ticket {
        waiting += 1
        // A lane is changed where it is, and found once: a copy of it and the hash of its key cost more
        // than the rest.
        guard let index = lanes.index(forKey: application.lane) else {
            lastLane &+= 1
            var lane = Lane(number: lastLane, origin: application.origin)
            let ticket = lane.append(application)
            lanes[application.lane] = lane
            return ticket
        }
        return lanes.values[index].append(application)
    }

    mutating func remove(_ ticket: Admission.Ticket, _ timerQueue: TimerQueue) -> Bool {
        guard let index = lanes.index(forKey: ticket.key),
            let rest = lanes.values[index].remove(ticket)
        else { return false }
        waiting -= 1
        if rest == 0 { forgetIfEmpty(ticket.key, timerQueue) }
        return true
    }

    mutating func noteChange() { changes &+= 1 }

    mutating func move(_ ticket: Admission.Ticket, to priority: Priority) {
        noteChange()
        lanes[ticket.key]?.move(ticket, to: priority)
    }

    private mutating func forgetIfEmpty(_ key: LaneKey, _ timerQueue: TimerQueue) {
        guard lanes[key]?.queue.isEmpty == true else { return }
        stopWaiting(key, timerQueue)
        lanes[key] = nil
    }

    /// Removes all loads of a lane, in the order in which they would have started.
    mutating func removeAll(_ key: LaneKey, _ timerQueue: TimerQueue) -> [Admission.Candidate] {
        var removed: [Admission.Candidate] = []
        while let next = lanes[key]?.queue.popFirst() { removed.append(next) }
        waiting -= removed.count
        forgetIfEmpty(key, timerQueue)
        return removed
    }

    /// Removes and returns the loads of a lane that would start after their deadline, and returns those
    /// left that other loads wait for.
    mutating func removeLate(
        _ key: LaneKey, _ timerQueue: TimerQueue, wait: (_ position: Int) -> Duration?
    ) -> (late: [Lane.Judged], shared: [Lane.Judged]) {
        guard let index = lanes.index(forKey: key) else { return ([], []) }
        let judged = lanes.values[index].removeLate(at: timerQueue.now, wait: wait)
        waiting -= judged.late.count
        forgetIfEmpty(key, timerQueue)
        return judged
    }

    /// Takes the first load of a lane and gives it a slot.
    mutating func startFirst(_ key: LaneKey) -> Admission.Candidate? {
        guard let candidate = lanes[key]?.queue.popFirst(), let lane = lanes[key] else {
            return nil
        }
        waiting -= 1
        self[key.use].start(lane.origin)
        for other in key.inTurns { lanes[other]?.hadLastStart = other == key }
        return candidate
    }

    /// The lanes of a rule that take turns, the one whose turn it is first.
    func inTurn(_ key: LaneKey) -> [LaneKey] {
        let keys = key.inTurns
        return lanes[key.inTurns[0]]?.hadLastStart == true ? keys.reversed() : keys
    }

    /// The origin of a lane with waiting loads; removes an empty lane and returns nil.
    mutating func origin(of key: LaneKey) -> Origin? {
        guard let lane = lanes[key] else { return nil }
        guard !lane.queue.isEmpty else {
            lanes[key] = nil
            return nil
        }
        return lane.origin
    }

    // MARK: Obstacles

    /// Whether a lane has a place among those that wait for a connection.
    func waitsForConnection(_ key: LaneKey) -> Bool { lanes[key]?.place != nil }

    func isObstructed(_ key: LaneKey) -> Bool { lanes[key]?.obstacle != nil }

    mutating func wait(_ key: LaneKey, for obstacle: Lane.Obstacle) {
        guard let origin = lanes[key]?.origin else { return }
        lanes[key]?.obstacle = obstacle
        switch obstacle {
        case .totalLimit, .anotherTurn:
            let place = self[key.use].waitForAny(key)
            lanes[key]?.place = place
        case .originLimit:
            let place = self[key.use].wait(key, for: origin)
            lanes[key]?.place = place
        case .instant, .change:
            break
        }
    }

    mutating func stopWaiting(_ key: LaneKey, _ timerQueue: TimerQueue) {
        guard let lane = lanes[key], let obstacle = lane.obstacle else { return }
        switch obstacle {
        case .instant(let entry):
            timerQueue.cancel(entry)
        case .totalLimit, .anotherTurn:
            if let place = lane.place { self[key.use].stopWaitingForAny(place) }
        case .originLimit:
            if let place = lane.place { self[key.use].stopWaiting(place, for: lane.origin) }
        case .change:
            break
        }
        lanes[key]?.obstacle = nil
        lanes[key]?.place = nil
    }
}
