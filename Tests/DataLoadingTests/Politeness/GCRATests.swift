// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct GCRATests {
    private static func rate(_ perSecond: Double, burst: Int = 1) throws -> GCRA.Rate {
        try #require(GCRA.Rate(requestsPerSecond: perSecond, burst: burst))
    }

    /// Reserves slots until `end`; each start is `lateness` after its slot.
    private static func starts(
        _ rate: GCRA.Rate, until end: Int64, lateness: () -> Int64 = { 0 }
    ) -> [Int64] {
        var slots = GCRA()
        var now: Int64 = 0
        var starts: [Int64] = []
        while now < end {
            let instant = Instant(nanoseconds: now)
            if let next = slots.reserve(at: instant, notBefore: nil, rate: rate) {
                now = next.nanoseconds + lateness()
            } else {
                starts.append(now)
            }
        }
        return starts
    }

    @Test(arguments: [0, -1, -Double.infinity, .infinity, .nan])
    func `a rate that is not positive and finite is refused`(perSecond: Double) {
        #expect(GCRA.Rate(requestsPerSecond: perSecond) == nil)
    }

    @Test(arguments: [3, 7, 10, 100, 999.9, 1_000, 5_000] as [Double])
    func `a rate holds over ten seconds without a growing error`(perSecond: Double) throws {
        let starts = Self.starts(try Self.rate(perSecond), until: 10_000_000_000)
        #expect(starts.count == Int((10 * perSecond).rounded(.up)))
        let last = try #require(starts.last)
        let ideal = Double(starts.count - 1) / perSecond * 1e9
        #expect(abs(Double(last) - ideal) < 2)
    }

    @Test func `five thousand slots a second are kept although every timer is late`() throws {
        var generator = SeededGenerator(seed: 1)
        let starts = Self.starts(try Self.rate(5_000), until: 10_000_000_000) {
            Int64.random(in: 0..<190_000, using: &generator)
        }
        #expect(abs(starts.count - 50_000) <= 250)
    }

    @Test func `a burst of slots starts at once, and the rest start one by one`() throws {
        let starts = Self.starts(try Self.rate(10, burst: 3), until: 300_000_000)
        #expect(starts == [0, 0, 0, 100_000_000, 200_000_000])
        let thirds = Self.starts(try Self.rate(3, burst: 3), until: 900_000_000)
        #expect(thirds == [0, 0, 0, 333_333_334, 666_666_667])
        let single = Self.starts(try Self.rate(10, burst: -4), until: 150_000_000)
        #expect(single == [0, 100_000_000])
    }

    @Test func `a slot that was reserved but not used is not given twice`() throws {
        var slots = GCRA()
        let rate = try Self.rate(10)
        func reserve(_ milliseconds: Int64) -> Instant? { slots.reserve(milliseconds, rate) }
        #expect(reserve(0) == nil)
        #expect(reserve(0) == Instant(nanoseconds: 100_000_000))
        #expect(reserve(5_000) == nil)
        #expect(reserve(5_000) == Instant(nanoseconds: 5_100_000_000))
    }

    @Test func `a late start does not shift the next slot`() throws {
        var slots = GCRA()
        let rate = try Self.rate(10)
        func reserve(_ milliseconds: Int64) -> Instant? { slots.reserve(milliseconds, rate) }
        #expect(reserve(0) == nil)
        #expect(reserve(10) == Instant(nanoseconds: 100_000_000))
        #expect(reserve(130) == nil)  // as of 100
        #expect(reserve(250) == nil)  // no load waited for this one
        #expect(reserve(300) == Instant(nanoseconds: 350_000_000))
    }

    @Test func `fractions of a nanosecond add up over any number of slots`() throws {
        let start = GCRA().start(
            position: 3_000_000, at: Instant(nanoseconds: 0), notBefore: nil,
            rate: try Self.rate(3))
        #expect(abs(start.nanoseconds - 1_000_000_000_000_000) < 2_000)
    }

    @Test func `the bucket is empty after a gate, so that slots start one by one`() throws {
        let rate = try Self.rate(10, burst: 5)
        let gate = Instant(nanoseconds: 1_000_000_000)
        var slots = GCRA()
        var now = Instant(nanoseconds: 0)
        var starts: [Int64] = []
        while starts.count < 4 {
            if let next = slots.reserve(at: now, notBefore: gate, rate: rate) {
                now = next
            } else {
                starts.append(now.nanoseconds / 1_000_000)
            }
        }
        #expect(starts == [1_000, 1_100, 1_200, 1_300])
    }

    @Test func `a gate holds for the largest burst of a slow rate`() throws {
        let rate = try Self.rate(0.1, burst: .max)
        let gate = Instant(nanoseconds: 1_000_000_000)
        var slots = GCRA()
        #expect(slots.reserve(at: Instant(nanoseconds: 0), notBefore: gate, rate: rate) == gate)
    }

    @Test func `numbers at the edge of their range do not trap in the rate algorithm`() throws {
        for perSecond in [Double.leastNonzeroMagnitude, 1e-12, 1e9, 1e15, .greatestFiniteMagnitude]
        {
            for burst in [Int.min, 0, 1, 1_000_000, .max] {
                let rate = try Self.rate(perSecond, burst: burst)
                var slots = GCRA()
                for now in [Instant(nanoseconds: .min), Instant(nanoseconds: 0), .distantFuture] {
                    _ = slots.reserve(at: now, notBefore: .distantFuture, rate: rate)
                    _ = slots.reserve(at: now, notBefore: nil, rate: rate)
                    _ = slots.start(position: .max, at: now, notBefore: now, rate: rate)
                    slots.change(to: rate, at: now)
                    slots.rebase(by: .nanoseconds(Int64.max))
                }
            }
        }
    }

    // At most b + ⌈W·rate⌉ starts in any window, whatever the arrivals and their lateness.
    @Test func `no window has more starts than burst and rate allow`() {
        property { generator in
            let perSecond = Double.random(in: 0.5...10_000, using: &generator)
            let burst = Int.random(in: 1...5, using: &generator)
            guard let rate = GCRA.Rate(requestsPerSecond: perSecond, burst: burst) else {
                return "no rate from \(perSecond)"
            }
            let interval = Int64(1e9 / perSecond)
            var slots = GCRA()
            var now: Int64 = 0
            var starts: [Int64] = []
            for _ in 0..<32 {
                let instant = Instant(nanoseconds: now)
                if let next = slots.reserve(at: instant, notBefore: nil, rate: rate) {
                    // Some callers are late, some give up, some ask too early.
                    now =
                        next.nanoseconds
                        + Int64.random(in: -interval / 2...interval * 2, using: &generator)
                    now = max(now, instant.nanoseconds)
                } else {
                    starts.append(now)
                    let isBusy = Bool.random(using: &generator)
                    now += isBusy ? 0 : Int64.random(in: 0...interval * 4, using: &generator)
                }
            }
            for first in starts.indices {
                for last in starts.indices[first...] {
                    let window = Double(starts[last] - starts[first]) / 1e9
                    let most = burst + Int((window * perSecond + 1e-6).rounded(.up))
                    guard last - first + 1 <= most else {
                        return "\(last - first + 1) starts in \(window) s at \(perSecond), \(burst)"
                    }
                }
            }
            return nil
        }
    }

    // The wait that was announced for a position holds and is at most position times interval.
    @Test func `no slot waits longer than the interval times its position`() {
        property { generator in
            let perSecond = Double.random(in: 0.5...1_000, using: &generator)
            let burst = Int.random(in: 1...4, using: &generator)
            guard let rate = GCRA.Rate(requestsPerSecond: perSecond, burst: burst) else {
                return "no rate from \(perSecond)"
            }
            var slots = GCRA()
            var now = Instant(nanoseconds: 0)
            _ = slots.reserve(at: now, notBefore: nil, rate: rate)
            now = now + .nanoseconds(Int64.random(in: 0...3_000_000_000, using: &generator))
            let promised = (0..<6).map {
                slots.start(position: $0, at: now, notBefore: nil, rate: rate)
            }
            let arrival = now
            for position in 0..<6 {
                while let next = slots.reserve(at: now, notBefore: nil, rate: rate) { now = next }
                let most = Double(position + 1) / perSecond + 1e-8
                guard (now - arrival).inSeconds <= most else {
                    return "\(position) waited too long"
                }
                guard abs((promised[position] - now).wholeNanoseconds) <= 8 else {
                    return "position \(position): promised \(promised[position]), came \(now)"
                }
            }
            return nil
        }
    }
}

extension GCRA {
    /// Reserves a slot at a time in milliseconds.
    fileprivate mutating func reserve(_ milliseconds: Int64, _ rate: Rate) -> Instant? {
        reserve(at: Instant(nanoseconds: milliseconds * 1_000_000), notBefore: nil, rate: rate)
    }
}
