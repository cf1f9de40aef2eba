// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

// Waiting entries are ordered by instant, and the earliest one is known.
@Suite struct IndexedHeapTests {
    @Test func `the indexed heap agrees with a sorted list over ten thousand random steps`() {
        property(cases: 20) { generator in
            var heap = IndexedHeap<Int>()
            var model: [(instant: Int64, id: Int, handle: IndexedHeap<Int>.Handle)] = []
            var stale: [IndexedHeap<Int>.Handle] = []
            for id in 0..<500 {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0..<4:
                    let instant = Int64.random(in: 0..<50, using: &generator)
                    let handle = heap.insert(id, at: Instant(nanoseconds: instant))
                    // Entries with equal instants leave in order of arrival.
                    let place = model.firstIndex { $0.instant > instant } ?? model.count
                    model.insert((instant, id, handle), at: place)
                case 4, 5:
                    guard let victim = model.indices.randomElement(using: &generator) else { break }
                    let (_, id, handle) = model.remove(at: victim)
                    if heap.remove(handle) != id { return "removed another one" }
                    stale.append(handle)
                case 6:
                    let limit = Int64.random(in: 0..<50, using: &generator)
                    let expected = model.first.flatMap { $0.instant <= limit ? $0 : nil }
                    if expected != nil { stale.append(model.removeFirst().handle) }
                    let popped = heap.popFirst(notAfter: Instant(nanoseconds: limit))
                    if popped != expected?.id { return "popped \(String(describing: popped))" }
                default:
                    guard let handle = stale.randomElement(using: &generator) else { break }
                    if heap.remove(handle) != nil { return "a stale handle removed something" }
                }
                if heap.count != model.count { return "count" }
                if heap.earliest?.nanoseconds != model.first?.instant { return "earliest" }
            }
            return nil
        }
    }

    @Test func `the indexed heap frees its memory and recognises stale handles`() {
        var heap = IndexedHeap<Int>()
        let handles = (0..<5_000).map { heap.insert($0, at: Instant(nanoseconds: Int64($0))) }
        for expected in 0..<5_000 { #expect(heap.popFirst(notAfter: .distantFuture) == expected) }
        let fresh = heap.insert(-1, at: Instant(nanoseconds: 0))
        for handle in handles { #expect(heap.remove(handle) == nil) }
        #expect(heap.remove(fresh) == -1)
    }
}
