// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A priority queue with round-robin between loaders, first in first out within each.
///
/// Each priority class is a ring of lines, one line per loader. The most urgent class with waiting
/// elements is served first. A class that was passed over fourteen times in a row is served next,
/// and a second such class after it. Of sixteen starts each waiting class has at least one.
struct FairQueue<Element: Sendable>: Sendable {
    /// Identifies one waiting element.
    struct Ticket: Hashable, Sendable {
        fileprivate let index: Int
        fileprivate let serial: UInt64
    }

    private struct LineKey: Hashable, Sendable {
        let loader: ObjectIdentifier
        let priority: Priority
    }

    private struct Line: Sendable {
        let key: LineKey
        var waiting = LinkedPool<Waiter>.List()
    }

    private struct Waiter: Sendable {
        let element: Element
        let line: Int
    }

    private static var maxPassedOver: Int { 14 }

    private var waiters = LinkedPool<Waiter>()
    private var lines = LinkedPool<Line>()
    private var lineOf: [LineKey: Int] = [:]
    private var rings = [LinkedPool<Line>.List](repeating: .init(), count: Priority.allCases.count)
    private var passedOver = [Int](repeating: 0, count: Priority.allCases.count)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(
        _ element: Element, loader: ObjectIdentifier, priority: Priority
    ) -> Ticket {
        let key = LineKey(loader: loader, priority: priority)
        let line = lineOf[key] ?? addLine(key)
        var waiting = lines[line]?.waiting ?? .init()
        let index = waiters.append(Waiter(element: element, line: line), to: &waiting)
        lines[line]?.waiting = waiting
        count += 1
        return Ticket(index: index, serial: waiters.serial(at: index))
    }

    private mutating func addLine(_ key: LineKey) -> Int {
        let line = lines.append(Line(key: key), to: &rings[key.priority.rank])
        lineOf[key] = line
        return line
    }

    mutating func popFirst() -> Element? {
        guard let (first, line, ring) = next else { return nil }
        for other in rings.indices {
            passedOver[other] =
                other == ring || rings[other].count == 0 ? 0 : passedOver[other] + 1
        }
        let element = takeOut(first, line: line)
        // The line had its turn. An empty line has already left its ring.
        if rings[ring].first == line { lines.moveToEnd(line, of: &rings[ring]) }
        return element
    }

    /// The element that leaves next.
    private var next: (waiter: Int, line: Int, ring: Int)? {
        guard let ring = nextClass(), let line = rings[ring].first,
            let first = lines[line]?.waiting.first
        else { return nil }
        return (first, line, ring)
    }

    mutating func remove(_ ticket: Ticket) -> Element? {
        guard let waiter = waiter(of: ticket) else { return nil }
        return takeOut(ticket.index, line: waiter.line)
    }

    /// Gives a waiting element another priority; its ticket stays valid.
    ///
    /// Its place in the line of its loader is that of its arrival, as if it had had the priority from
    /// the start.
    mutating func move(_ ticket: Ticket, to priority: Priority) {
        guard let waiter = waiter(of: ticket), let key = lines[waiter.line]?.key,
            key.priority != priority
        else { return }
        let newKey = LineKey(loader: key.loader, priority: priority)
        let newLine = lineOf[newKey] ?? addLine(newKey)
        guard var old = lines[waiter.line]?.waiting, var new = lines[newLine]?.waiting else {
            return
        }
        waiters.move(ticket.index, from: &old, to: &new)
        waiters[ticket.index] = Waiter(element: waiter.element, line: newLine)
        lines[waiter.line]?.waiting = old
        lines[newLine]?.waiting = new
        removeIfEmpty(waiter.line)
    }

    private func waiter(of ticket: Ticket) -> Waiter? {
        guard ticket.serial != 0, waiters.serial(at: ticket.index) == ticket.serial else {
            return nil
        }
        return waiters[ticket.index]
    }

    func contains(where matches: (Element) -> Bool) -> Bool {
        lineOf.values.contains { line in
            var next = lines[line]?.waiting.first
            while let index = next {
                if let element = waiters[index]?.element, matches(element) { return true }
                next = waiters.index(after: index)
            }
            return false
        }
    }

    /// What becomes of an element in its place.
    enum Fate {
        case stays
        /// It stays, but is about to be removed, and takes no place before others.
        case takesNoPlace
        case isRemoved
    }

    /// Decides about each element in its place, in the order in which they would leave.
    ///
    /// The place of an element is the number of those that stay and leave before it.
    mutating func sift(_ fate: (Element, Int) -> Fate) {
        var rest = self
        var place = 0
        while let (waiter, line, _) = rest.next, let element = rest.waiters[waiter]?.element {
            let fate = fate(element, place)
            if fate == .stays {
                _ = rest.popFirst()
                place += 1
            } else {
                _ = rest.takeOut(waiter, line: line)
            }
            if fate == .isRemoved { _ = takeOut(waiter, line: line) }
        }
    }

    /// The number of elements that would leave before one that joins now, if no others join, or a
    /// smaller number.
    ///
    /// Counts turns: a loader with few waiting elements is not behind one with thousands.
    func position(loader: ObjectIdentifier, priority: Priority) -> Int {
        let own = lineOf[LineKey(loader: loader, priority: priority)]
        return position(behind: own.flatMap { lines[$0]?.waiting.count } ?? 0, in: own, priority)
    }

    /// The number of elements that would leave before one that waits, if no others join, or a smaller
    /// number; nil when it does not wait.
    ///
    /// It looks through the line of the element.
    func position(of ticket: Ticket) -> Int? {
        guard let waiter = waiter(of: ticket), let line = lines[waiter.line] else { return nil }
        var ahead = 0
        var next = line.waiting.first
        while let index = next, index != ticket.index {
            ahead += 1
            next = waiters.index(after: index)
        }
        return position(behind: ahead, in: waiter.line, line.key.priority)
    }

    /// The place of the element that has so many before it in its line; nil for a line that is new.
    private func position(behind ahead: Int, in own: Int?, _ priority: Priority) -> Int {
        var inClass = ahead
        // Each line before its own has a turn more than those behind it.
        var turns = ahead + 1
        var next = rings[priority.rank].first
        while let line = next {
            if line == own {
                turns = ahead
            } else {
                inClass += min(lines[line]?.waiting.count ?? 0, turns)
            }
            next = lines.index(after: line)
        }
        return inClass + min(moreUrgent(than: priority), passes(before: inClass, priority))
    }

    /// The number of waiting elements of more urgent classes.
    private func moreUrgent(than priority: Priority) -> Int {
        var count = 0
        for ring in rings.indices where ring > priority.rank {
            var next = rings[ring].first
            while let line = next {
                count += lines[line]?.waiting.count ?? 0
                next = lines.index(after: line)
            }
        }
        return count
    }

    /// How many more urgent elements leave at most before a class has served so many and one more.
    private func passes(before served: Int, _ priority: Priority) -> Int {
        max(0, Self.maxPassedOver - passedOver[priority.rank]) + Self.maxPassedOver * served
    }

    private func nextClass() -> Int? {
        rings.indices.first { rings[$0].count > 0 && passedOver[$0] >= Self.maxPassedOver }
            ?? rings.indices.last { rings[$0].count > 0 }
    }

    private mutating func takeOut(_ index: Int, line: Int) -> Element? {
        guard var waiting = lines[line]?.waiting else { return nil }
        let waiter = waiters.remove(index, from: &waiting)
        lines[line]?.waiting = waiting
        count -= 1
        removeIfEmpty(line)
        return waiter?.element
    }

    private mutating func removeIfEmpty(_ line: Int) {
        guard let key = lines[line]?.key, lines[line]?.waiting.count == 0 else { return }
        _ = lines.remove(line, from: &rings[key.priority.rank])
        lineOf[key] = nil
    }
}
