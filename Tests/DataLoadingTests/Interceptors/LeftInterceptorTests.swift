// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Interceptors that outlast their loads, or are too many.
@Suite struct LeftInterceptorTests {
    @Test func `next sends nothing once its load has an outcome`() async throws {
        let kept = Locked<NextLoad?>(nil)
        let bed = TestBed(interceptors: [
            Intercept { request, next in
                kept.withLock { $0 = next }
                return .made(for: request)
            }
        ])
        bed.loader.perform(.make())
        _ = await bed.outcome()
        // It retains the interceptors, and they what keeps it.
        let next = try #require(kept.withLock { $0.take() })
        await #expect(throws: DataLoaderError.cancelled) { try await next(.make()) }
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `too many loads in interceptors are refused, and places come back`() async {
        let hold = HoldOn()
        let bed = TestBed(otherwise: .respond(status: 200), interceptors: [hold]) {
            $0.limits.queue = 2
            $0.limits.total = 1
        }
        for _ in 0..<3 { bed.loader.perform(.make()) }
        _ = await hold.asked.first(3)
        let token = bed.loader.perform(.make())
        #expect(await bed.outcome()?.response?.error == .overloaded)
        #expect(await bed.delegate.outcomes(1)[0].response?.metrics.load == token.loadNumber)
        #expect(hold.asked.elements.count == 3)
        hold.letGo()
        let outcomes = await bed.delegate.outcomes(4)
        #expect(outcomes.dropFirst().allSatisfy { $0.response?.error == nil })
        bed.settle()
        bed.loader.perform(.make())
        #expect(await bed.delegate.outcomes(5)[4].response?.error == nil)
        bed.expectNothingLeft()
    }

    @Test func `nothing retains a load whose interceptor never returns`() async {
        let hold = HoldOn()
        let bed = TestBed(interceptors: [hold])
        let token = bed.loader.perform(.make())
        weak let load = token.load
        _ = await hold.asked.first(1)
        token.cancel()
        _ = await bed.outcome()
        bed.expectNothingLeft()
        await eventually { load == nil }
        #expect(hold.results.elements.isEmpty)
        hold.letGo()
        _ = await hold.results.first(1)
    }
}
