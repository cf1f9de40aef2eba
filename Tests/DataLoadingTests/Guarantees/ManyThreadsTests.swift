// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// The guarantees hold for calls from any threads in any order.
// The thread sanitizer runs these tests too.
@Suite struct ManyThreadsTests {
    @Test func `loads end once each while threads perform, cancel and reset at once`() async {
        for seed in UInt64(1)...60 {
            let authorisers = seed % 3 == 0 ? [TestAuthoriser()] : []
            let bed = TestBed(
                otherwise: .run { attempt in
                    attempt.sendHead(status: seed % 4 == 0 ? 503 : 200)
                    attempt.send(patternBytes(1_000))
                    attempt.end()
                }, authorisers: authorisers
            ) { configuration in
                configuration.limits.perOrigin = 3
                configuration.retry.maximumRetryCount = 1
                configuration.retry.budget = nil
            }
            let performed = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var generator = SeededGenerator(seed: seed &* 10 &+ UInt64(thread))
                for _ in 0..<40 {
                    let token = bed.loader.perform(
                        .make("/\(thread)") { request in
                            request.chunks = Bool.random(using: &generator)
                            request.timeout = Bool.random(using: &generator) ? .seconds(30) : nil
                        })
                    performed.withLock { $0 += 1 }
                    switch Int.random(in: 0..<8, using: &generator) {
                    case 0..<3: token.cancel()
                    case 3: bed.clock.advance(by: ms(Int64.random(in: 0...900, using: &generator)))
                    case 4 where thread == 0: bed.loader.cancelAllLoads()
                    case 5:
                        bed.service.rateLimiter.setRequestsPerSecond(
                            Bool.random(using: &generator) ? 50 : nil,
                            forHostOf: testURL("http://origin.test"))
                    default: _ = bed.loader.currentRequests
                    }
                }
            }
            async let reset = bed.factory.reset()
            bed.loader.cancelAllLoads()
            _ = await reset
            let count = performed.withLock { $0 }
            #expect(await bed.delegate.outcomes(count).count == count, "seed \(seed)")
            bed.settle()
            #expect(bed.delegate.outcomeCount == count, "seed \(seed)")
            #expect(await bed.observer.entries(count).count == count, "seed \(seed)")
            bed.expectNothingLeft()
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `chunks pause and resume without a stall while delegate and server race`() async {
        for seed in UInt64(1)...20 {
            let bed = TestBed()
            bed.loader.perform(.make { $0.chunks = true })
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200)
            var sent = 0
            var generator = SeededGenerator(seed: seed)
            var changes = 0
            for _ in 0..<200 {
                // The delegate works on its own queue; a paused server sends nothing.
                while attempt.isPaused {
                    changes = await attempt.waitForFlowChanges(changes + 1).count
                }
                let count = Int.random(in: 30_000...200_000, using: &generator)
                attempt.send(patternBytes(count, from: sent))
                sent += count
            }
            attempt.end()
            _ = await bed.outcome()
            #expect(bed.delegate.body == patternBytes(sent), "seed \(seed)")
        }
    }

    @Test func `slots pass on when loads finish and are cancelled concurrently`() async {
        let bed = TestBed(otherwise: .respond(status: 200)) { configuration in
            configuration.limits.perOrigin = 2
            configuration.limits.total = 3
        }
        let count = 800
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in 0..<(count / 4) {
                let host = "http://h\((index + thread) % 4).test"
                let token = bed.loader.perform(.make("/", host: host))
                if index % 3 == 0 { token.cancel() }
            }
        }
        #expect(await bed.delegate.outcomes(count).count == count)
        _ = await bed.observer.entries(count)
        bed.expectNothingLeft()
    }
}
