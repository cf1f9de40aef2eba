// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A first-in-first-out queue in one array: removing an element does not move the others.
public struct FIFO<Element: Sendable>: Sendable {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var next = 0

    /// The capacity that an emptied queue keeps, so that a burst does not stay in memory.
    @usableFromInline static var maxKept: Int { 64 }

    /// The number of waiting elements from which further ones may be joined to the last.
    @usableFromInline static var maxApart: Int { 256 }

    /// Makes an empty queue.
    @inlinable public init() {}

    /// Whether no element waits.
    @inlinable public var isEmpty: Bool { next == elements.count }

    /// The number of elements that wait.
    @inlinable public var count: Int { elements.count - next }

    /// Appends an element.
    @inlinable public mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Appends an element, or joins it to the last one when 256 or more wait.
    ///
    /// Joining keeps a sender of small elements from filling the memory. `join` returns whether it
    /// joined.
    @inlinable public mutating func append(_ element: Element, join: (inout Element) -> Bool) {
        guard count >= Self.maxApart, var last = elements.popLast() ?? nil else {
            return append(element)
        }
        let isJoined = join(&last)
        append(last)
        if !isJoined { append(element) }
    }

    /// The elements that satisfy a condition, in their order.
    @inlinable public func filtered(_ isIncluded: (Element) -> Bool) -> FIFO {
        var result = FIFO()
        result.elements = elements[next...].filter { $0.map(isIncluded) ?? false }
        return result
    }

    /// Takes the first element; nil when none waits.
    @inlinable public mutating func popFirst() -> Element? {
        guard next < elements.count else { return nil }
        // The element is taken out, so that the array does not keep it alive.
        let element = elements[next].take()
        next += 1
        if next == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= Self.maxKept)
            next = 0
        } else if next > Self.maxKept, next * 2 > elements.count {
            elements.removeFirst(next)
            next = 0
        }
        return element
    }
}
