// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// First in, first out, in one array: taking an element moves no other.
struct FIFO<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var next = 0

    /// How many places an emptied queue keeps, so that a burst does not stay in memory.
    private static var mostKept: Int { 64 }

    /// How many elements wait before further ones may be put together with the last.
    private static var mostApart: Int { 256 }

    var isEmpty: Bool { next == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Appends an element; where so many wait already that a sender of small ones would fill the
    /// memory with places, `join` may put it into the last one instead, and says whether it did.
    mutating func append(_ element: Element, join: (inout Element) -> Bool) {
        guard elements.count - next >= Self.mostApart, var last = elements.popLast() ?? nil else {
            return append(element)
        }
        let isJoined = join(&last)
        append(last)
        if !isJoined { append(element) }
    }

    /// The elements that satisfy a condition, in their order.
    func filtered(_ isIncluded: (Element) -> Bool) -> FIFO {
        var result = FIFO()
        result.elements = elements[next...].filter { $0.map(isIncluded) ?? false }
        return result
    }

    mutating func popFirst() -> Element? {
        guard next < elements.count else { return nil }
        // Taken out, so that the array keeps nothing alive that was delivered.
        let element = elements[next].take()
        next += 1
        if next == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= Self.mostKept)
            next = 0
        } else if next > Self.mostKept, next * 2 > elements.count {
            elements.removeFirst(next)
            next = 0
        }
        return element
    }
}
