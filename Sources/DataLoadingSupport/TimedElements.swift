// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Elements ordered by instant, with removal of any by its handle.
///
/// Deadlines of one length come in the order in which they were scheduled. Such elements are kept in
/// a few lists, where insertion and removal take the same time however many there are. An element
/// that would come before the end of every list goes to a heap. Equal instants leave in order of
/// insertion.
package struct TimedElements<Element: Sendable>: Sendable {
    /// Identifies one insertion; stale once the element has left.
    package struct Handle: Hashable, Sendable {
        fileprivate enum Place: Hashable, Sendable {
            case listed(slot: Int, serial: UInt64)
            case ranked(IndexedHeap<Ranked>.Handle)
        }

        fileprivate let place: Place
    }

    /// An element of the heap, and its place among all insertions.
    package struct Ranked: Sendable {
        fileprivate let element: Element
        fileprivate let serial: UInt64
    }

    private struct Slot {
        var element: Element?
        var instant: Instant
        /// Zero without an element.
        var serial: UInt64
        // Half the size of an `Int`, because a service may have a hundred thousand slots.
        var previous: UInt32
        /// The next slot of the list, or of those that are free.
        var next: UInt32
    }

    private struct List {
        var first = none
        var last = none
    }

    private static var none: UInt32 { .max }
    private static var maxSlots: Int { 1 << 30 }

    private var slots: [Slot] = []
    private var free = none
    private var lists = [List](repeating: List(), count: 4)
    private var listed = 0
    private var heap = IndexedHeap<Ranked>()
    private var lastSerial: UInt64 = 0

    package init() {}

    package var count: Int { listed + heap.count }

    package var earliest: Instant? {
        let first = earliestList.map { slots[Int(lists[$0].first)].instant }
        guard let ranked = heap.earliest else { return first }
        return first.map { min($0, ranked) } ?? ranked
    }

    package mutating func insert(
        _ element: consuming Element, at instant: Instant
    ) -> Handle {
        lastSerial &+= 1
        guard let list = list(for: instant), slots.count < Self.maxSlots else {
            let ranked = Ranked(element: element, serial: lastSerial)
            return Handle(place: .ranked(heap.insert(ranked, at: instant)))
        }
        let last = lists[list].last
        let slot = place(
            Slot(
                element: element, instant: instant, serial: lastSerial, previous: last,
                next: Self.none))
        if last == Self.none {
            lists[list].first = slot
        } else {
            slots[Int(last)].next = slot
        }
        lists[list].last = slot
        listed += 1
        return Handle(place: .listed(slot: Int(slot), serial: lastSerial))
    }

    package mutating func remove(_ handle: Handle) -> Element? {
        switch handle.place {
        case .ranked(let handle): return heap.remove(handle)?.element
        case .listed(let slot, let serial):
            guard slots.indices.contains(slot), slots[slot].serial == serial else { return nil }
            return takeOut(slot)
        }
    }

    package mutating func popFirst(notAfter instant: Instant) -> Element? {
        guard let list = earliestList else { return heap.popFirst(notAfter: instant)?.element }
        let slot = Int(lists[list].first)
        guard !heapPrecedes(slot) else { return heap.popFirst(notAfter: instant)?.element }
        return slots[slot].instant <= instant ? takeOut(slot) : nil
    }

    private func heapPrecedes(_ slot: Int) -> Bool {
        guard let (ranked, instant) = heap.first else { return false }
        return instant == slots[slot].instant
            ? ranked.serial < slots[slot].serial : instant < slots[slot].instant
    }

    /// The list at whose end an instant comes: the one that ends last before it, or an empty one.
    private func list(for instant: Instant) -> Int? {
        var latest: (list: Int, end: Instant)?
        var empty: Int?
        for index in lists.indices {
            let last = lists[index].last
            guard last != Self.none else {
                empty = empty ?? index
                continue
            }
            let end = slots[Int(last)].instant
            guard end <= instant else { continue }
            if latest.map({ $0.end < end }) ?? true { latest = (index, end) }
        }
        return latest?.list ?? empty
    }

    /// The list whose first element comes first.
    private var earliestList: Int? {
        var earliest: Int?
        for index in lists.indices where lists[index].first != Self.none {
            guard let best = earliest else {
                earliest = index
                continue
            }
            let (a, b) = (Int(lists[index].first), Int(lists[best].first))
            let precedes =
                slots[a].instant == slots[b].instant
                ? slots[a].serial < slots[b].serial : slots[a].instant < slots[b].instant
            if precedes { earliest = index }
        }
        return earliest
    }

    private mutating func place(_ slot: consuming Slot) -> UInt32 {
        guard free != Self.none else {
            slots.append(slot)
            return UInt32(slots.count - 1)
        }
        let index = free
        free = slots[Int(index)].next
        slots[Int(index)] = slot
        return index
    }

    private mutating func takeOut(_ index: Int) -> Element? {
        let (previous, next) = (slots[index].previous, slots[index].next)
        if previous == Self.none {
            for list in lists.indices where lists[list].first == index { lists[list].first = next }
        } else {
            slots[Int(previous)].next = next
        }
        if next == Self.none {
            for list in lists.indices where lists[list].last == index {
                lists[list].last = previous
            }
        } else {
            slots[Int(next)].previous = previous
        }
        defer { release(index) }
        return slots[index].element
    }

    private mutating func release(_ index: Int) {
        slots[index].element = nil
        slots[index].serial = 0
        slots[index].next = free
        free = UInt32(index)
        listed -= 1
        // Releases the memory of many slots once they are empty.
        if listed == 0, slots.count > 1_024 {
            slots = []
            free = Self.none
        }
    }
}
