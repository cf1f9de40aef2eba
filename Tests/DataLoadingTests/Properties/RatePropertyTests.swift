// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// No window has more slots than rate and burst allow, and loads start in order.
@Suite struct RatePropertyTests {
    @Test func `no window holds more slots than burst and rate allow with late and early callers`()
    {
        property { generator in
            let perSecond =
                ([0.5, 1, 3, 10, 999.9, 5_000] as [Double]).randomElement(using: &generator) ?? 1
            let burst = Int.random(in: 1...8, using: &generator)
            guard let rate = GCRA.Rate(requestsPerSecond: perSecond, burst: burst) else {
                return "no rate"
            }
            let interval = 1e9 / perSecond
            var slots = GCRA()
            var now: Int64 = 0
            var starts: [Int64] = []
            for _ in 0..<40 {
                // The next caller is early, on time, late or much later.
                let shares =
                    ([0, 0.3, 1, 1.7, 20] as [Double]).randomElement(using: &generator) ?? 0
                let instant = Instant(nanoseconds: now)
                if let next = slots.reserve(at: instant, notBefore: nil, rate: rate) {
                    now =
                        max(next.nanoseconds, now)
                        + Int64(Double.random(in: 0..<0.9, using: &generator) * interval)
                } else {
                    starts.append(now)
                    now += Int64(shares * interval)
                }
            }
            for first in starts.indices {
                for last in starts.indices[first...] {
                    let window = Double(starts[last] - starts[first])
                    // A timer that is late by less than an interval takes its slot as if on time.
                    let most = burst + 1 + Int((window / interval).rounded(.up))
                    guard last - first + 1 <= most else {
                        return
                            "\(last - first + 1) slots in \(window) ns at \(perSecond)/s, \(burst)"
                    }
                }
            }
            return nil
        }
    }

    @Test func `loads of one loader start in order at their rate`() {
        property(cases: propertyCases / 50) { generator in
            let rate = Double(Int.random(in: 1...50, using: &generator))
            let bed = TestBed(otherwise: .respond(status: 200)) { configuration in
                configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
                configuration.limits.perOrigin = 100
            }
            let count = Int.random(in: 2...20, using: &generator)
            for index in 0..<count {
                bed.loader.perform(.make("/\(index)"))
                if Bool.random(using: &generator) {
                    bed.clock.advance(by: ms(Int64.random(in: 0...400, using: &generator)))
                }
            }
            bed.advance(.seconds(59))
            let starts = bed.starts
            if starts.map(\.path) != (0..<count).map({ "/\($0)" }) {
                return "\(starts.map(\.path))"
            }
            for (start, next) in zip(starts, starts.dropFirst())
            where next.at - start.at < .seconds(0.999_999 / rate) {
                return "\(next.at - start.at) apart at \(rate)/s"
            }
            return nil
        }
    }
}
