// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The connection slots of one use: their limits, those taken, and the lanes that wait for one.
struct SlotPool: Sendable {
    /// A lane that waited for a slot of its origin, and its place among those that wait for any.
    typealias Moved = (key: LaneKey, place: Int)

    /// A limit that prevents another start.
    enum Full: Sendable {
        case origin
        case total
    }

    fileprivate struct OriginSlots: Sendable {
        var running = 0
        var blocked = LinkedPool<LaneKey>.List()

        var isUnused: Bool { running == 0 && blocked.count == 0 }
    }

    /// The place of an origin that may start another attempt.
    struct Room: Sendable {
        fileprivate let index: Dictionary<Origin, OriginSlots>.Index?
    }

    private let perOrigin: Int
    private var maxima: [Origin: Int] = [:]
    private var origins: [Origin: OriginSlots] = [:]
    private var places = LinkedPool<LaneKey>()
    private var waitingForAnySlot = LinkedPool<LaneKey>.List()
    private(set) var total: Int
    private(set) var running = 0

    init(perOrigin: Int, total: Int) {
        self.perOrigin = perOrigin
        self.total = total
    }

    /// Whether no slot is taken and no lane waits for a slot of its origin.
    var isEmpty: Bool { origins.isEmpty }

    /// The number of slots taken by each origin.
    var taken: [Origin: Int] { origins.mapValues(\.running) }

    // MARK: Limits

    func maximum(for origin: Origin) -> Int { maxima[origin] ?? perOrigin }

    /// Sets the limit of an origin, nil for that of all origins; returns the lanes to ask again.
    mutating func setMaximum(_ maximum: Int?, for origin: Origin) -> [Moved] {
        maxima[origin] = maximum
        return origins[origin].map { makeRoom(at: origin, $0) } ?? []
    }

    mutating func setTotal(_ total: Int) { self.total = total }

    /// The limit that prevents another start at the origin; nil when both have room.
    func fullLimit(for origin: Origin) -> Full? {
        if origins[origin]?.running ?? 0 >= maximum(for: origin) { return .origin }
        return running >= total ? .total : nil
    }

    // MARK: Slots

    /// The room for another start at an origin, valid until the pool changes; nil when there is none.
    ///
    /// With it, asking for room and starting look the origin up once.
    func room(for origin: Origin) -> Room? {
        guard running < total else { return nil }
        let index = origins.index(forKey: origin)
        let taken = index.map { origins.values[$0].running } ?? 0
        return taken < maximum(for: origin) ? Room(index: index) : nil
    }

    mutating func start(_ origin: Origin, in room: Room) {
        if let index = room.index {
            origins.values[index].running += 1
        } else {
            origins[origin] = OriginSlots(running: 1)
        }
        running += 1
    }

    mutating func start(_ origin: Origin) {
        origins[origin, default: OriginSlots()].running += 1
        running += 1
    }

    /// Gives a slot back; returns the lanes that wait for any slot from now on.
    mutating func finish(_ origin: Origin) -> [Moved] {
        running -= 1
        guard let index = origins.index(forKey: origin) else { return [] }
        origins.values[index].running -= 1
        let slots = origins.values[index]
        // Most origins have other attempts under way and no lane that waits for one of their slots.
        guard slots.blocked.count > 0 || slots.isUnused else { return [] }
        return makeRoom(at: origin, slots)
    }

    /// The origin may have room now, so its lanes join those that wait for any slot.
    private mutating func makeRoom(at origin: Origin, _ slots: OriginSlots) -> [Moved] {
        var slots = slots
        var moved: [Moved] = []
        while let place = slots.blocked.first,
            let key = places.remove(place, from: &slots.blocked)
        {
            moved.append((key, places.append(key, to: &waitingForAnySlot)))
        }
        origins[origin] = slots.isUnused ? nil : slots
        return moved
    }

    // MARK: Waiting lanes

    /// The lane to pump after a slot was freed: the one that has waited longest, if there is room.
    ///
    /// One busy origin therefore cannot keep all slots.
    var next: LaneKey? {
        guard running < total, let first = waitingForAnySlot.first else { return nil }
        return places[first]
    }

    /// Makes a lane wait for any slot; returns its place.
    mutating func waitForAny(_ key: LaneKey) -> Int {
        places.append(key, to: &waitingForAnySlot)
    }

    /// Makes a lane wait for a slot of its origin; returns its place.
    mutating func wait(_ key: LaneKey, for origin: Origin) -> Int {
        places.append(key, to: &origins[origin, default: OriginSlots()].blocked)
    }

    mutating func stopWaitingForAny(_ place: Int) {
        _ = places.remove(place, from: &waitingForAnySlot)
    }

    mutating func stopWaiting(_ place: Int, for origin: Origin) {
        guard var slots = origins[origin] else { return }
        _ = places.remove(place, from: &slots.blocked)
        origins[origin] = slots.isUnused ? nil : slots
    }
}
