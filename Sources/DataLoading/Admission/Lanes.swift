// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Who stands in a lane: loads of one rule, those that need a connection or those that need none.
struct LaneKey: Hashable, Sendable {
    let rule: RuleKey
    var needsNoConnection = false

    /// The lane of the same rule that goes first.
    var express: LaneKey { LaneKey(rule: rule, needsNoConnection: true) }
}

/// The lanes of waiting loads and the slots that are taken: the state behind `Admission`'s lock.
struct Lanes: Sendable {
    /// What a lane with waiting loads waits for.
    enum Obstacle: Sendable {
        /// Its rate allows the next start at an instant.
        case instant(Agenda.Entry)
        /// Its rate is zero, or comes from elsewhere.
        case change
        /// Its origin has as many in flight as it may.
        case originLimit
        /// The service has as many in flight as it may.
        case totalLimit
        /// It has started its share of this round.
        case anotherTurn
    }

    private struct Lane: Sendable {
        let number: UInt64
        let origin: Origin
        var queue = FairQueue<Admission.Candidate>()
        var obstacle: Obstacle?
        /// Where it stands among the lanes that wait for a connection.
        var place: Int?
    }

    private struct OriginSlots: Sendable {
        var running = 0
        var blocked = LinkedPool<LaneKey>.List()
    }

    private let limits: Limits
    private var lanes: [LaneKey: Lane] = [:]
    private var lastLane: UInt64 = 0
    private var origins: [Origin: OriginSlots] = [:]
    private var places = LinkedPool<LaneKey>()
    private var hungry = LinkedPool<LaneKey>.List()
    private(set) var waiting = 0
    private(set) var running = 0

    init(limits: Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { lanes.isEmpty && origins.isEmpty }
    var keys: [LaneKey] { Array(lanes.keys) }

    func length(_ key: LaneKey) -> Int { lanes[key]?.queue.count ?? 0 }

    func position(of application: Admission.Application) -> Int {
        lanes[application.lane]?.queue
            .position(loader: application.loader, priority: application.priority) ?? 0
    }

    // MARK: Slots

    /// Whether nobody waits before the load and both connection limits have room.
    func canStartAtOnce(_ application: Admission.Application) -> Bool {
        lanes[application.lane] == nil && fullLimit(for: application.origin) == nil
    }

    /// The limit that stands in the way of another start at the origin.
    func fullLimit(for origin: Origin) -> Obstacle? {
        if origins[origin]?.running ?? 0 >= limits.perOrigin { return .originLimit }
        return running >= limits.total ? .totalLimit : nil
    }

    mutating func start(_ origin: Origin) {
        origins[origin, default: OriginSlots()].running += 1
        running += 1
    }

    mutating func finish(_ origin: Origin) {
        running -= 1
        guard var slots = origins[origin] else { return }
        slots.running -= 1
        // The origin has room now, so its lanes line up with those that wait for any slot at all.
        while let place = slots.blocked.first,
            let key = places.remove(place, from: &slots.blocked)
        {
            lanes[key]?.obstacle = .totalLimit
            lanes[key]?.place = places.append(key, to: &hungry)
        }
        origins[origin] = slots.running == 0 ? nil : slots
    }

    /// The lane to pump next after a slot came free, while there is room: whoever has lined up
    /// longest, so that one busy origin cannot keep all slots.
    var nextForFreedSlot: LaneKey? {
        guard running < limits.total, let first = hungry.first else { return nil }
        return places[first]
    }

    // MARK: Waiting loads

    mutating func append(_ application: Admission.Application) -> Admission.Ticket {
        waiting += 1
        if lanes[application.lane] == nil { lastLane &+= 1 }
        let fresh = Lane(number: lastLane, origin: application.origin)
        return Self.append(application, to: &lanes[application.lane, default: fresh])
    }

    private static func append(
        _ application: Admission.Application, to lane: inout Lane
    ) -> Admission.Ticket {
        let place = lane.queue.append(
            application.candidate, loader: application.loader, priority: application.priority)
        return Admission.Ticket(key: application.lane, lane: lane.number, place: place)
    }

    mutating func remove(_ ticket: Admission.Ticket, _ agenda: Agenda) -> Bool {
        guard lanes[ticket.key]?.number == ticket.lane,
            lanes[ticket.key]?.queue.remove(ticket.place) != nil
        else { return false }
        waiting -= 1
        forgetIfEmpty(ticket.key, agenda)
        return true
    }

    private mutating func forgetIfEmpty(_ key: LaneKey, _ agenda: Agenda) {
        guard lanes[key]?.queue.isEmpty == true else { return }
        stopWaiting(key, agenda)
        lanes[key] = nil
    }

    /// Takes out all loads of a lane, in the order in which they would have gone.
    mutating func removeAll(_ key: LaneKey, _ agenda: Agenda) -> [Admission.Candidate] {
        var removed: [Admission.Candidate] = []
        while let next = lanes[key]?.queue.popFirst() { removed.append(next) }
        waiting -= removed.count
        forgetIfEmpty(key, agenda)
        return removed
    }

    /// Takes out the loads whose deadline passes before an instant.
    mutating func removeAll(
        _ key: LaneKey, dueBefore instant: Instant, _ agenda: Agenda
    ) -> [Admission.Candidate] {
        let removed = lanes[key]?.queue.removeAll { $0.deadline.map { $0 < instant } ?? false }
        guard let removed, !removed.isEmpty else { return [] }
        waiting -= removed.count
        forgetIfEmpty(key, agenda)
        return removed
    }

    /// Takes the first load of a lane and gives it a slot.
    mutating func startFirst(_ key: LaneKey) -> Admission.Candidate? {
        guard let candidate = lanes[key]?.queue.popFirst(), let lane = lanes[key] else {
            return nil
        }
        waiting -= 1
        start(lane.origin)
        return candidate
    }

    /// The origin of a lane that has somebody waiting; a lane that has nobody is forgotten.
    mutating func origin(of key: LaneKey) -> Origin? {
        guard let lane = lanes[key] else { return nil }
        guard !lane.queue.isEmpty else {
            lanes[key] = nil
            return nil
        }
        return lane.origin
    }

    // MARK: Obstacles

    func isObstructed(_ key: LaneKey) -> Bool { lanes[key]?.obstacle != nil }

    mutating func wait(_ key: LaneKey, for obstacle: Obstacle) {
        guard let origin = lanes[key]?.origin else { return }
        lanes[key]?.obstacle = obstacle
        switch obstacle {
        case .totalLimit, .anotherTurn:
            lanes[key]?.place = places.append(key, to: &hungry)
        case .originLimit:
            lanes[key]?.place = places.append(
                key, to: &origins[origin, default: OriginSlots()].blocked)
        case .instant, .change:
            break
        }
    }

    mutating func stopWaiting(_ key: LaneKey, _ agenda: Agenda) {
        guard let lane = lanes[key], let obstacle = lane.obstacle else { return }
        switch obstacle {
        case .instant(let entry):
            agenda.cancel(entry)
        case .totalLimit, .anotherTurn:
            if let place = lane.place { _ = places.remove(place, from: &hungry) }
        case .originLimit:
            if let place = lane.place, var slots = origins[lane.origin] {
                _ = places.remove(place, from: &slots.blocked)
                origins[lane.origin] = slots.running == 0 && slots.blocked.count == 0 ? nil : slots
            }
        case .change:
            break
        }
        lanes[key]?.obstacle = nil
        lanes[key]?.place = nil
    }
}
