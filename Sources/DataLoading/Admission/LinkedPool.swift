// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Doubly linked lists whose nodes share one array.
///
/// Removal needs no search, and a node needs no object.
struct LinkedPool<Element: Sendable>: Sendable {
    /// A list in the pool.
    struct List: Sendable {
        fileprivate(set) var first: Int?
        fileprivate(set) var last: Int?
        fileprivate(set) var count = 0
    }

    private struct Node: Sendable {
        var element: Element?
        var serial: UInt64
        // Half the size of an `Int`, because a hundred thousand loads may wait.
        private var links: (previous: UInt32, next: UInt32)

        init(_ element: Element?, previous: Int? = nil, serial: UInt64 = 0) {
            self.element = element
            self.serial = serial
            links = (Self.link(previous), Self.link(nil))
        }

        var previous: Int? {
            get { Self.index(links.previous) }
            set { links.previous = Self.link(newValue) }
        }

        var next: Int? {
            get { Self.index(links.next) }
            set { links.next = Self.link(newValue) }
        }

        // No more nodes than this fit into the memory of any machine.
        private static func link(_ index: Int?) -> UInt32 {
            index.map { UInt32(clamping: $0) } ?? .max
        }

        private static func index(_ link: UInt32) -> Int? { link == .max ? nil : Int(link) }
    }

    private var nodes: [Node] = []
    private var free: [Int] = []
    private var lastSerial: UInt64 = 0

    /// Appends an element; its index is stable until it is removed.
    mutating func append(_ element: Element, to list: inout List) -> Int {
        lastSerial &+= 1
        let node = Node(element, previous: list.last, serial: lastSerial)
        let index: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            index = reused
        } else {
            index = nodes.count
            nodes.append(node)
        }
        if let last = list.last { nodes[last].next = index } else { list.first = index }
        list.last = index
        list.count += 1
        return index
    }

    /// The serial number of the element at an index; 0 without one.
    func serial(at index: Int) -> UInt64 {
        nodes.indices.contains(index) ? nodes[index].serial : 0
    }

    /// Reads or changes the element at an index.
    subscript(index: Int) -> Element? {
        get { nodes.indices.contains(index) ? nodes[index].element : nil }
        set { if nodes.indices.contains(index) { nodes[index].element = newValue } }
    }

    /// The index of the next element in the same list.
    func index(after index: Int) -> Int? { nodes[index].next }

    /// Removes the element at an index from its list.
    mutating func remove(_ index: Int, from list: inout List) -> Element? {
        guard nodes.indices.contains(index), let element = nodes[index].element else { return nil }
        unlink(index, from: &list)
        nodes[index] = Node(nil)
        free.append(index)
        return element
    }

    /// Moves an element to the end of its list; its index stays.
    mutating func moveToEnd(_ index: Int, of list: inout List) {
        guard list.last != index, nodes.indices.contains(index), nodes[index].element != nil
        else { return }
        unlink(index, from: &list)
        nodes[index].previous = list.last
        nodes[index].next = nil
        if let last = list.last { nodes[last].next = index } else { list.first = index }
        list.last = index
        list.count += 1
    }

    /// Moves an element to another list, before the elements there that were appended to the pool
    /// later than it; its index and its serial number stay.
    ///
    /// It looks through those that were appended later.
    mutating func move(_ index: Int, from list: inout List, to other: inout List) {
        guard nodes.indices.contains(index), nodes[index].element != nil else { return }
        unlink(index, from: &list)
        var (previous, next) = (other.last, Int?.none)
        while let last = previous, nodes[last].serial > nodes[index].serial {
            (previous, next) = (nodes[last].previous, last)
        }
        nodes[index].previous = previous
        nodes[index].next = next
        if let previous { nodes[previous].next = index } else { other.first = index }
        if let next { nodes[next].previous = index } else { other.last = index }
        other.count += 1
    }

    private mutating func unlink(_ index: Int, from list: inout List) {
        let (previous, next) = (nodes[index].previous, nodes[index].next)
        if let previous { nodes[previous].next = next } else { list.first = next }
        if let next { nodes[next].previous = previous } else { list.last = previous }
        list.count -= 1
    }
}
