// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Every load has its outcome at its deadline, whatever it waits for.
@Suite struct DeadlinePropertyTests {
    @Test func `no load outlasts its deadline`() {
        property(cases: propertyCases / 20) { generator in
            let authoriser = TestAuthoriser(.hold)
            let isAuthorised = Int.random(in: 0..<4, using: &generator) == 0
            let rate: Double? = Bool.random(using: &generator) ? 0.5 : nil
            let slots = Int.random(in: 1...3, using: &generator)
            let bed = TestBed(authorisers: isAuthorised ? [authoriser] : []) { configuration in
                configuration.limits.perOrigin = slots
                configuration.retry.maximumRetryCount = 5
                configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
            }
            let count = Int.random(in: 1...6, using: &generator)
            for _ in 0..<count {
                bed.loader.perform(
                    .make { request in
                        request.timeout = ms(Int64.random(in: 1...20_000, using: &generator))
                        request.chunks = Bool.random(using: &generator)
                        request.waitsForConnectivity = Bool.random(using: &generator)
                    })
            }
            // The server answers now and then; time advances past the last deadline.
            for _ in 0..<60 {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let attempt = bed.transport.attempts.randomElement(using: &generator)
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0: attempt?.respond(status: 503)
                    case 1: attempt?.fail(.connectRefused)
                    case 2: attempt?.respond(status: 302, headers: ["Location": "/x"])
                    case 3: attempt?.sendHead(status: 200)
                    default: attempt?.respond(status: 200)
                    }
                    if !authoriser.heldNow.isEmpty {
                        authoriser.grant(authoriser.heldNow.count - 1)
                    }
                }
                bed.advance(ms(400))
            }
            let ends = bed.delegate.events.filter(\.isTerminal).compactMap(\.response)
            guard ends.count == count else { return "\(ends.count) outcomes of \(count)" }
            for end in ends {
                let timeout = end.request.timeout ?? .zero
                guard end.requestTime <= timeout else { return "\(end.requestTime) of \(timeout)" }
                if case .timedOut(let after, _)? = end.error?.kind, after != timeout {
                    return "said to have timed out after \(after), not \(timeout)"
                }
            }
            return nil
        }
    }
}
