// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A load skips an attempt if another load has just failed to connect.
@Suite struct SkippedAttemptTests {
    private func bed(_ answers: [ScriptedAnswer], otherwise: ScriptedAnswer) -> TestBed {
        TestBed(answers, otherwise: otherwise) { $0.limits.perOrigin = 1 }
    }

    private let origin = Origin(isSecure: false, host: "origin.test", port: 80)

    @Test func `queued loads do not each try an origin that refuses connections`() {
        let bed = bed([], otherwise: .fail(.connectRefused))
        let loads = 100
        for _ in 0..<loads { bed.loader.perform(.make { $0.maximumRetryCount = 3 }) }
        while bed.passPause() {}
        let responses = bed.delegate.events.compactMap(\.response)
        #expect(responses.count == loads)
        #expect(responses.allSatisfy { $0.error == .connectRefused })
        // Each load makes at least one attempt, and few loads make more.
        #expect(responses.allSatisfy { $0.metrics.attempts >= 1 })
        #expect(bed.transport.attempts.count == responses.reduce(0) { $0 + $1.metrics.attempts })
        #expect(bed.transport.attempts.count <= loads + 8)
        bed.expectNothingLeft()
    }

    @Test func `a queue survives an outage that its retries span and pays only for attempts made`()
    {
        let isUp = Locked(false)
        let answer = ScriptedAnswer.run { attempt in
            guard isUp.withLock({ $0 }) else { return attempt.fail(.connectRefused) }
            attempt.sendHead(status: 200)
            attempt.end()
        }
        let bed = bed([], otherwise: answer)
        let loads = 100
        for _ in 0..<loads {
            bed.loader.perform(
                .make { $0.retryPolicy = .constant(.milliseconds(300), maximumRetries: 20) })
        }
        while bed.clock.elapsed < .seconds(3) { bed.passPause() }
        let tried = bed.transport.attempts.count
        // One attempt at the end of each pause, from 0 s to 3 s.
        #expect(tried == 11)
        #expect(bed.service.runtime.originHealth.balance(of: origin) == 500 - 14 * tried)
        isUp.withLock { $0 = true }
        while bed.passPause() {}
        #expect(bed.delegate.events.count == loads)
        #expect(bed.delegate.events.allSatisfy { $0.response?.error == nil })
        #expect(bed.transport.attempts.count == tried + loads)
        bed.expectNothingLeft()
    }

    @Test func `a load without retries is attempted although another load just failed to connect`()
    {
        let bed = bed([.fail(.connectRefused)], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        bed.loader.perform(.make("/b"))
        bed.settle()
        #expect(bed.delegate.events.count == 1)
        #expect(bed.delegate.events[0].response?.error == nil)
    }

    @Test func `only failures to connect make other loads skip an attempt`() {
        for answer in [
            ScriptedAnswer.fail(.connectionReset, sent: .written), .respond(status: 503),
            .fail(.tls),
        ] {
            let bed = bed([answer], otherwise: .respond(status: 200))
            bed.loader.perform(.make("/a") { $0.maximumRetryCount = 1 })
            bed.loader.perform(.make("/b") { $0.maximumRetryCount = 1 })
            bed.settle()
            #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/b"])
        }
    }

    @Test func `a load that skips an attempt can be cancelled`() {
        let bed = bed([.fail(.connectRefused)], otherwise: .respond(status: 200))
        bed.loader.perform(.make("/a") { $0.maximumRetryCount = 1 })
        let token = bed.loader.perform(.make("/b") { $0.maximumRetryCount = 1 })
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        token.cancel()
        while bed.passPause() {}
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/a", "/a"])
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }
}
