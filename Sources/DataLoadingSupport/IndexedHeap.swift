// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A binary heap ordered by instant, with removal of any element by its handle.
///
/// Elements are stored in slots that are reused. The heap orders slot numbers, and each slot knows
/// its place in the heap, so removal needs no search. Equal instants leave in order of insertion.
package struct IndexedHeap<Element: Sendable>: Sendable {
    /// Identifies one insertion; stale once the element has left.
    package struct Handle: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let serial: UInt64
    }

    private struct Slot {
        var element: Element?
        var instant: Instant
        var serial: UInt64
        var place: Int
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var order: [Int] = []
    private var lastSerial: UInt64 = 0

    package init() {}

    package var count: Int { order.count }

    package var earliest: Instant? {
        order.first.map { slots[$0].instant }
    }

    /// The element that leaves first, and its instant.
    package var first: (element: Element, instant: Instant)? {
        guard let slot = order.first, let element = slots[slot].element else { return nil }
        return (element, slots[slot].instant)
    }

    package mutating func insert(_ element: Element, at instant: Instant) -> Handle {
        lastSerial &+= 1
        let slot = Slot(
            element: element, instant: instant, serial: lastSerial, place: order.count)
        let index: Int
        if let reused = free.popLast() {
            slots[reused] = slot
            index = reused
        } else {
            index = slots.count
            slots.append(slot)
        }
        order.append(index)
        siftUp(order.count - 1)
        return Handle(slot: index, serial: lastSerial)
    }

    package mutating func remove(_ handle: Handle) -> Element? {
        guard slots.indices.contains(handle.slot), slots[handle.slot].serial == handle.serial
        else { return nil }
        return takeOut(place: slots[handle.slot].place)
    }

    package mutating func popFirst(notAfter instant: Instant) -> Element? {
        guard let earliest, earliest <= instant else { return nil }
        return takeOut(place: 0)
    }

    private mutating func takeOut(place: Int) -> Element? {
        let index = order[place]
        let last = order.count - 1
        if place != last { exchange(place, last) }
        order.removeLast()
        if place < order.count {
            siftDown(place)
            siftUp(place)
        }
        defer { release(index) }
        return slots[index].element
    }

    private mutating func release(_ index: Int) {
        slots[index].element = nil
        slots[index].serial = 0
        free.append(index)
        // Releases the memory of a large heap once it is empty.
        if order.isEmpty, slots.count > 1_024 {
            slots = []
            free = []
            order = []
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        // Compares field by field: a copy of a slot would retain its element.
        let (a, b) = (order[left], order[right])
        return slots[a].instant == slots[b].instant
            ? slots[a].serial < slots[b].serial : slots[a].instant < slots[b].instant
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        order.swapAt(left, right)
        slots[order[left]].place = left
        slots[order[right]].place = right
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        while place > 0, precedes(place, (place - 1) / 2) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        while true {
            var smallest = place
            let (left, right) = (2 * place + 1, 2 * place + 2)
            if left < order.count, precedes(left, smallest) { smallest = left }
            if right < order.count, precedes(right, smallest) { smallest = right }
            guard smallest != place else { return }
            exchange(place, smallest)
            place = smallest
        }
    }
}
