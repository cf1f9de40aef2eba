// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// P5: a gate never opens earlier than it was said to, and never later than an hour from the word.
@Suite struct P5GateTests {
    @Test func `P5 no Retry-After brings the opening of a gate forward`() {
        property(cases: propertyCases / 10) { generator in
            let clock = ManualClock()
            var configuration = DataLoaderService.Configuration()
            configuration.transport = ScriptedTransport()
            let service = DataLoaderService(configuration: configuration, clock: clock)
            let request = DataLoaderRequest.make()
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
                    service.rateLimiter.setRetryAfter(delay, for: request.url)
                    opening = max(opening, clock.now + min(max(delay, .zero), .seconds(3_600)))
                }
                let wait = service.rateLimiter.earliestTimeUntilRequestCanBeExecuted(request)
                let expected = max(.zero, opening - clock.now)
                guard wait == expected else { return "\(wait), not \(expected)" }
            }
            return nil
        }
    }
}
