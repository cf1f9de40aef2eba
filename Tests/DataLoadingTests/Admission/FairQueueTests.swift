// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct FairQueueTests {
    private final class Owner: Sendable {}

    @Test func `the fair queue agrees with a naive queue over ten thousand random steps`() {
        let owners = (0..<4).map { _ in Owner() }
        property(cases: 20) { generator in
            var queue = FairQueue<Int>()
            var model = NaiveQueue()
            var tickets: [(id: Int, ticket: FairQueue<Int>.Ticket)] = []
            for id in 0..<500 {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<5:
                    let owner = Int.random(in: 0..<4, using: &generator)
                    let priority = Priority.allCases.randomElement(using: &generator) ?? .normal
                    let ticket = queue.append(
                        id, loader: ObjectIdentifier(owners[owner]), priority: priority)
                    tickets.append((id, ticket))
                    model.append(id, owner: owner, priority: priority)
                case 5, 6:
                    let popped = queue.popFirst()
                    if popped != model.popFirst() { return "popped \(String(describing: popped))" }
                case 7:
                    guard let (id, ticket) = tickets.randomElement(using: &generator) else { break }
                    if (queue.remove(ticket) == id) != model.remove(id) { return "removed \(id)" }
                case 8:
                    guard let (id, ticket) = tickets.randomElement(using: &generator) else { break }
                    let priority = Priority.allCases.randomElement(using: &generator) ?? .normal
                    queue.move(ticket, to: priority)
                    model.move(id, to: priority)
                default:
                    guard id % 5 == 0 else { break }
                    let factor = Int.random(in: 2..<7, using: &generator)
                    var removed: [Int] = []
                    queue.sift { id, _ in
                        guard id % factor == 0 else { return .stays }
                        removed.append(id)
                        return .isRemoved
                    }
                    if removed.sorted() != model.removeAll(multiplesOf: factor) {
                        return "removed \(removed)"
                    }
                }
                if queue.count != model.count || queue.isEmpty != (model.count == 0) {
                    return "count \(queue.count)"
                }
            }
            return nil
        }
    }

    @Test func `the fair queue takes turns between loaders, however many loads each one adds`() {
        let owners = (0..<2).map { _ in Owner() }
        var queue = FairQueue<Int>()
        for (index, owner) in owners.enumerated() {
            for _ in 0..<500 {
                _ = queue.append(index, loader: ObjectIdentifier(owner), priority: .normal)
            }
        }
        var order: [Int] = []
        while let next = queue.popFirst() { order.append(next) }
        #expect(order == (0..<1_000).map { $0 % 2 })
    }

    @Test func `the fair queue starts a waiting load of each priority at least once in sixteen`() {
        let owner = Owner()
        var queue = FairQueue<Priority>()
        for priority in Priority.allCases {
            for _ in 0..<200 {
                _ = queue.append(priority, loader: ObjectIdentifier(owner), priority: priority)
            }
        }
        let order = (0..<200).compactMap { _ in queue.popFirst() }
        for start in 0...(order.count - 16) {
            #expect(Set(order[start..<(start + 16)]) == Set(Priority.allCases))
        }
        #expect(order.count { $0 == .high } >= 170)
    }

    /// A queue of loads of four owners, some of which have left; with the tickets by id.
    private func queue(
        _ owners: [Owner], _ priorities: [Priority], _ generator: inout SeededGenerator
    ) -> (FairQueue<Int>, [FairQueue<Int>.Ticket]) {
        var queue = FairQueue<Int>()
        var tickets: [FairQueue<Int>.Ticket] = []
        for id in 0..<Int.random(in: 1..<80, using: &generator) {
            tickets.append(
                queue.append(
                    id,
                    loader: ObjectIdentifier(owners[Int.random(in: 0..<4, using: &generator)]),
                    priority: priorities.randomElement(using: &generator) ?? .normal))
            if id % 3 == 2 { _ = queue.popFirst() }
        }
        return (queue, tickets)
    }

    @Test func `the fair queue tells an element its place before it joins, and while it waits`() {
        let owners = (0..<4).map { _ in Owner() }
        property(cases: 300) { generator in
            var (queue, tickets) = queue(owners, [.normal], &generator)
            let owner = ObjectIdentifier(owners[0])
            let toldBefore = queue.position(loader: owner, priority: .normal)
            tickets.append(queue.append(-1, loader: owner, priority: .normal))
            let told = tickets.map { queue.position(of: $0) }
            var order: [Int] = []
            while let next = queue.popFirst() {
                order.append(next == -1 ? tickets.count - 1 : next)
            }
            for (id, told) in told.enumerated() where told != order.firstIndex(of: id) {
                return "told \(id) \(told ?? -1) of \(order)"
            }
            return told.last == toldBefore ? nil : "told \(toldBefore) before it joined"
        }
    }

    @Test func `of several priorities no element leaves before the place that it was told`() {
        let owners = (0..<4).map { _ in Owner() }
        property(cases: 300) { generator in
            var (queue, tickets) = queue(owners, Priority.allCases, &generator)
            let told = tickets.map { queue.position(of: $0) }
            var order: [Int] = []
            while let next = queue.popFirst() { order.append(next) }
            for (place, id) in order.enumerated() {
                guard let told = told[id] else { return "told nothing of \(id)" }
                // Less urgent classes have one start in sixteen each.
                guard told <= place, place <= told + 2 * (place / 15 + 1) else {
                    return "told \(id) \(told), was \(place)"
                }
            }
            return nil
        }
    }

    @Test func `a class keeps its floor though its only element changes its priority`() {
        let (first, second) = (Owner(), Owner())
        var queue = FairQueue<Int>()
        for id in 1...400 {
            _ = queue.append(id, loader: ObjectIdentifier(first), priority: .high)
        }
        let ticket = queue.append(0, loader: ObjectIdentifier(second), priority: .low)
        var order: [Int] = []
        for number in 0..<16 {
            if number == 12 {
                queue.move(ticket, to: .normal)
                queue.move(ticket, to: .low)
            }
            order += [queue.popFirst() ?? -1]
        }
        #expect(order.contains(0))
    }

    @Test func `what is removed makes room for the elements behind it, and takes no turn`() {
        let owners = (0..<4).map { _ in Owner() }
        property(cases: 300) { generator in
            var queue = FairQueue<Int>()
            var limits: [Int: Int] = [:]
            var tickets: [FairQueue<Int>.Ticket] = []
            for id in 0..<Int.random(in: 1..<60, using: &generator) {
                let owner = owners[Int.random(in: 0..<4, using: &generator)]
                let priority = Priority.allCases.randomElement(using: &generator) ?? .normal
                limits[id] = Int.random(in: 0..<30, using: &generator)
                tickets.append(
                    queue.append(id, loader: ObjectIdentifier(owner), priority: priority))
            }
            var removed: [Int] = []
            var places: [Int] = []
            queue.sift { id, place in
                if id % 7 == 0 { return .takesNoPlace }
                guard place > limits[id, default: 0] else {
                    places.append(id)
                    return .stays
                }
                removed.append(id)
                return .isRemoved
            }
            guard removed.allSatisfy({ queue.remove(tickets[$0]) == nil }) else {
                return "left some of \(removed)"
            }
            for id in stride(from: 0, to: tickets.count, by: 7)
            where queue.remove(tickets[id]) != id { return "removed \(id)" }
            let count = queue.count
            var order: [Int] = []
            while let next = queue.popFirst() { order.append(next) }
            return order == places && count == order.count
                ? nil : "told the places of \(places), but they leave as \(order)"
        }
    }
}

/// The same rules in the simplest form: arrays that are searched.
private struct NaiveQueue {
    private var rings: [[(owner: Int, waiting: [Int])]] = [[], [], []]
    private var passedOver = [0, 0, 0]

    var count: Int { rings.joined().reduce(0) { $0 + $1.waiting.count } }

    mutating func append(_ id: Int, owner: Int, priority: Priority) {
        let ring = priority.rank
        if let line = rings[ring].firstIndex(where: { $0.owner == owner }) {
            rings[ring][line].waiting.append(id)
        } else {
            rings[ring].append((owner, [id]))
        }
    }

    mutating func popFirst() -> Int? {
        let waiting = rings.indices.filter { !rings[$0].isEmpty }
        guard let ring = waiting.first(where: { passedOver[$0] >= 14 }) ?? waiting.last else {
            return nil
        }
        for other in rings.indices {
            passedOver[other] = other == ring || rings[other].isEmpty ? 0 : passedOver[other] + 1
        }
        var line = rings[ring].removeFirst()
        let id = line.waiting.removeFirst()
        if !line.waiting.isEmpty { rings[ring].append(line) }
        return id
    }

    /// The ids are in the order of arrival.
    mutating func move(_ id: Int, to priority: Priority) {
        for ring in rings.indices where ring != priority.rank {
            guard let line = rings[ring].firstIndex(where: { $0.waiting.contains(id) }) else {
                continue
            }
            let owner = rings[ring][line].owner
            _ = remove(id)
            append(id, owner: owner, priority: priority)
            let new = rings[priority.rank].firstIndex { $0.owner == owner }
            if let new { rings[priority.rank][new].waiting.sort() }
            return
        }
    }

    mutating func remove(_ id: Int) -> Bool {
        let before = count
        removeAll { $0 == id }
        return count < before
    }

    mutating func removeAll(multiplesOf factor: Int) -> [Int] {
        let removed = rings.joined().flatMap(\.waiting).filter { $0 % factor == 0 }
        removeAll { $0 % factor == 0 }
        return removed.sorted()
    }

    private mutating func removeAll(where matches: (Int) -> Bool) {
        for ring in rings.indices {
            for line in rings[ring].indices { rings[ring][line].waiting.removeAll(where: matches) }
            rings[ring].removeAll { $0.waiting.isEmpty }
        }
    }
}
