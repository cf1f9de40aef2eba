// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Which loads a shutdown cancels when it begins, as they may never end by themselves.
@Suite struct StreamShutDownTests {
    private static let length: HTTPHeaders = ["Content-Length": "5"]

    @Test func `a shutdown cancels loads with the slots of streams at once, sent or not`() async {
        let bed = TestBed { $0.limits.streamsPerOrigin = 1 }
        for _ in 0..<2 {
            bed.loader.perform(
                .make {
                    $0.slotUse = .stream
                    $0.timeout = .seconds(3_600)
                })
        }
        let attempt = await bed.attempt(0)
        // The clock does not move, so the grace period is not used up.
        _ = await bed.service.shutDown(gracePeriod: .seconds(30))
        #expect(attempt.isCancelled)
        #expect(bed.delegate.outcomeCount == 2)
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `a shutdown cancels a load in chunks without limit and length at once`() async {
        let bed = TestBed()
        bed.loader.perform(.make { $0.chunks = true })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.settle()
        _ = await bed.service.shutDown(gracePeriod: .seconds(30))
        #expect(attempt.isCancelled)
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a load in chunks whose stream begins during a shutdown is cancelled then`() async {
        let bed = TestBed()
        bed.loader.perform(.make { $0.chunks = true })
        let attempt = await bed.attempt(0)
        async let end = bed.service.shutDown(gracePeriod: .seconds(30))
        await bed.clock.waitForAlarms(1, within: .seconds(30))
        #expect(!attempt.isCancelled)
        attempt.sendHead(status: 200)
        _ = await end
        #expect(attempt.isCancelled)
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a shutdown waits for loads in chunks that have a length or a time limit`() async {
        for hasLength in [true, false] {
            let bed = TestBed()
            bed.loader.perform(
                .make {
                    $0.chunks = true
                    if !hasLength { $0.timeout = .seconds(60) }
                })
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200, headers: hasLength ? Self.length : HTTPHeaders())
            async let end = bed.service.shutDown(gracePeriod: .seconds(30))
            await bed.clock.waitForAlarms(1, within: .seconds(30))
            #expect(!attempt.isCancelled)
            attempt.send(Data("hello".utf8))
            attempt.end()
            _ = await end
            #expect(bed.error == nil)
            bed.expectNothingLeft()
        }
    }
}
