// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads that would get a slot of their rate only after their deadline.
@Suite struct HopelessWaitTests {
    private static func bed(
        rate: Double?, otherwise: ScriptedAnswer = .respond(status: 200)
    ) -> TestBed {
        TestBed(otherwise: otherwise) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
            $0.limits.perOrigin = 100
            $0.limits.total = 100
        }
    }

    @Test func `a load whose turn would come after its deadline ends at once`() {
        let bed = Self.bed(rate: 1)
        for _ in 0..<3 { bed.loader.perform(.make()) }
        let late = DataLoaderRequest.make { $0.timeout = .seconds(2) }
        bed.loader.perform(late)
        bed.settle()
        let event = bed.delegate.events.first { $0.requestIdentifier == late.uniqueIdentifier }
        #expect(event?.response?.error == .rateLimited(wait: .seconds(3)))
        // The slot that it did not take goes to a load that can wait.
        bed.loader.perform(.make { $0.timeout = .milliseconds(3_001) })
        bed.clock.advance(by: .seconds(3))
        #expect(bed.starts.count == 4)
    }

    @Test func `a load waits for the floor of its priority, if that comes before its deadline`() {
        let bed = Self.bed(rate: 1)
        for _ in 0..<40 {
            bed.loader.perform(
                .make("/high") {
                    $0.priority = .high
                    $0.timeout = .seconds(200)
                })
        }
        bed.loader.perform(
            .make("/low") {
                $0.priority = .low
                $0.timeout = .seconds(20)
            })
        bed.advance(.seconds(20))
        #expect(bed.starts.contains { $0.path == "/low" })
        bed.loader.cancelAllLoads()
    }

    @Test func `a load is judged by the turns of its loader, not by the loads of others`() {
        let bed = Self.bed(rate: 1)
        bed.loader.perform(.make("/before"))
        bed.loader.perform(.make("/one") { $0.timeout = .seconds(500) })
        for number in 0..<20 {
            let other = bed.factory.makeDataLoader(
                delegate: bed.delegate, delegateQueue: nil, delivery: .ofTests)
            bed.hold(other)
            for _ in 0..<3 {
                other.perform(.make("/other\(number)") { $0.timeout = .seconds(500) })
            }
        }
        bed.loader.perform(.make("/two") { $0.timeout = .seconds(23) })
        bed.loader.perform(.make("/three") { $0.timeout = .seconds(23) })
        bed.advance(.seconds(22))
        #expect(bed.starts.filter { $0.path == "/two" }.map(\.at) == [.seconds(22)])
        let errors = bed.delegate.events.compactMap { $0.response?.error }
        #expect(errors == [.rateLimited(wait: .seconds(43))])
        bed.loader.cancelAllLoads()
    }

    @Test func `loads whose deadline comes before a gate opens are refused at once`() {
        let bed = Self.bed(rate: 1, otherwise: .hold)
        bed.loader.perform(.make())
        bed.loader.perform(.make { $0.timeout = .seconds(5) })
        bed.loader.perform(.make { $0.timeout = .seconds(50) })
        bed.transport.attempts[0].respond(status: 429, headers: ["Retry-After": "20"])
        bed.settle()
        let errors = bed.delegate.events.compactMap { $0.response?.error }
        #expect(errors.contains(.rateLimited(wait: .seconds(20))))
        #expect(errors.count == 2)
        bed.clock.advance(by: .seconds(20))
        #expect(bed.starts.map(\.at) == [.zero, .seconds(20)])
    }
}
