// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

// Timers are ordered by instant, however many lengths of time there are.
@Suite struct TimedElementsTests {
    private typealias Model = [(instant: Int64, id: Int, handle: TimedElements<Int>.Handle)]

    @Test func `timed elements agree with a sorted list, for rising instants and for random ones`()
    {
        property(cases: 40) { generator in
            var elements = TimedElements<Int>()
            var model: Model = []
            var stale: [TimedElements<Int>.Handle] = []
            // Up to this many lengths of time rise with the clock; the rest is random.
            let lengths = Int64.random(in: 0..<8, using: &generator)
            for id in 0..<500 {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0..<4:
                    let length = Int64.random(in: 0...lengths, using: &generator)
                    let random = Int64.random(in: 0..<500, using: &generator)
                    let instant = length == 0 ? random : Int64(id) + 100 * length
                    let handle = elements.insert(id, at: Instant(nanoseconds: instant))
                    // Elements with equal instants leave in order of arrival.
                    let place = model.firstIndex { $0.instant > instant } ?? model.count
                    model.insert((instant, id, handle), at: place)
                case 4, 5:
                    guard let victim = model.indices.randomElement(using: &generator) else { break }
                    let (_, id, handle) = model.remove(at: victim)
                    if elements.remove(handle) != id { return "removed another one" }
                    stale.append(handle)
                case 6:
                    let limit = Int64.random(in: 0..<1_000, using: &generator)
                    let expected = model.first.flatMap { $0.instant <= limit ? $0 : nil }
                    if expected != nil { stale.append(model.removeFirst().handle) }
                    let popped = elements.popFirst(notAfter: Instant(nanoseconds: limit))
                    if popped != expected?.id { return "popped \(String(describing: popped))" }
                default:
                    guard let handle = stale.randomElement(using: &generator) else { break }
                    if elements.remove(handle) != nil { return "a stale handle removed something" }
                }
                if elements.count != model.count { return "count" }
                if elements.earliest?.nanoseconds != model.first?.instant { return "earliest" }
            }
            return nil
        }
    }

    @Test func `timed elements free their memory and recognise stale handles`() {
        var elements = TimedElements<Int>()
        let handles = (0..<5_000).map { elements.insert($0, at: Instant(nanoseconds: Int64($0))) }
        for expected in 0..<5_000 {
            #expect(elements.popFirst(notAfter: .distantFuture) == expected)
        }
        let fresh = elements.insert(-1, at: Instant(nanoseconds: 0))
        for handle in handles { #expect(elements.remove(handle) == nil) }
        #expect(elements.remove(fresh) == -1)
    }
}
