// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A gate never opens earlier than announced and never later than an hour after the announcement.
@Suite struct GatePropertyTests {
    @Test func `no Retry-After makes a gate open earlier`() {
        property(cases: propertyCases / 10) { generator in
            let clock = ManualClock()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport()
            let service = DataLoaderService(configuration: configuration, clock: clock)
            let request = DataLoaderRequest.make()
            let origin = Origin(isSecure: false, host: "origin.test", port: 80)
            var opening = Duration.zero
            for _ in 0..<30 {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: clock.advance(by: ms(Int64.random(in: 0...900_000, using: &generator)))
                default:
                    let delays: [Duration] = [
                        .zero, .seconds(-5), .seconds(1), .seconds(120), .seconds(3_600),
                        .seconds(3_601), .seconds(Int64.max / 4),
                        ms(Int64.random(in: 0...4_000_000, using: &generator)),
                    ]
                    let delay = delays.randomElement(using: &generator) ?? .zero
                    service.rateLimiter.setRetryAfter(
                        delay, for: RuleKey(origin: origin))
                    opening = max(opening, clock.elapsed + min(max(delay, .zero), .seconds(3_600)))
                }
                let wait = service.rateLimiter.earliestTimeUntilRequestCanBeExecuted(request)
                let expected = max(.zero, opening - clock.elapsed)
                guard wait == expected else { return "\(wait), not \(expected)" }
            }
            return nil
        }
    }
}
