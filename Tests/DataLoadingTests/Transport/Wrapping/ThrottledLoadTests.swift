// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads over a throttled transport.
@Suite struct ThrottledLoadTests {
    /// A bed whose transport is throttled.
    private func bed(_ throttle: Locked<ThrottledTransport?>, maximum: Int) -> TestBed {
        TestBed(otherwise: .hold) { configuration in
            guard let next = configuration.transport else { return }
            let made = ThrottledTransport(next, maximumInFlight: maximum)
            throttle.withLock { $0 = made }
            configuration.transport = made
        }
    }

    @Test func `the deadline of a load keeps running while its attempt waits`() async throws {
        let made = Locked<ThrottledTransport?>(nil)
        let bed = bed(made, maximum: 0)
        bed.service.resolver.setAddresses(["192.0.2.1"], forHost: "origin.test")
        bed.loader.perform(.make { $0.timeout = .seconds(5) })
        bed.settle()
        let throttle = try #require(made.withLock { $0 })
        #expect(throttle.load == (0, 1))
        bed.advance(.seconds(5))
        #expect(bed.error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: false))
        #expect(throttle.load == (0, 0))
        bed.expectNothingLeft()
        // The server's address was not too slow: no request was sent to it.
        #expect(bed.service.resolver.address(forHost: "origin.test") == "192.0.2.1")
    }

    @Test func `cancelled and reset loads leave the throttle at once`() async throws {
        let made = Locked<ThrottledTransport?>(nil)
        let bed = bed(made, maximum: 1)
        let throttle = try #require(made.withLock { $0 })
        let tokens = (0..<4).map { _ in bed.loader.perform(.make()) }
        bed.settle()
        #expect(throttle.load == (1, 3))
        tokens[1].cancel()
        tokens[0].cancel()
        bed.settle()
        #expect(throttle.load == (1, 1))
        #expect(bed.transport.attempts.count == 2)
        #expect(await bed.service.reset().isEmpty)
        #expect(bed.transport.resetCount == 1)
        let outcomes = await bed.delegate.outcomes(4)
        #expect(outcomes.filter { $0.response?.error == .reset }.count == 2)
        bed.expectNothingLeft()
        #expect(throttle.load == (0, 0))
    }

    @Test func `no more attempts wait than loads may run at once`() async throws {
        let made = Locked<ThrottledTransport?>(nil)
        let bed = bed(made, maximum: 0)
        for _ in 0..<200 { bed.loader.perform(.make()) }
        bed.settle()
        let throttle = try #require(made.withLock { $0 })
        #expect(throttle.load == (0, 8))
        throttle.maximumInFlight = 8
        bed.settle()
        #expect(bed.transport.attempts.count == 8)
        bed.loader.cancelAllLoads()
        _ = await bed.delegate.outcomes(200)
        bed.expectNothingLeft()
    }
}
