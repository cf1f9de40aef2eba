// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// The number of retries is bounded for any length of an outage and any number of loads.
@Suite struct BoundedRetriesTests {
    @Test(arguments: [(nil, 35), (500, 35), (503, 100), (429, 100)] as [(Int?, Int)])
    func `an outage costs no more retries than the origin's budget`(status: Int?, most: Int) {
        // All attempts have started before the first one fails: later ones would be skipped.
        let haveBegun = DispatchSemaphore(value: 0)
        let answer = ScriptedAnswer.run { attempt in
            haveBegun.wait()
            haveBegun.signal()
            guard let status else { return attempt.fail(.connectRefused) }
            attempt.sendHead(status: status)
            attempt.end()
        }
        let bed = TestBed(otherwise: answer) { configuration in
            configuration.limits.perOrigin = 1_000
            configuration.limits.total = 1_000
        }
        let loads = 300
        for _ in 0..<loads { bed.loader.perform(.make { $0.maximumRetryCount = 5 }) }
        haveBegun.signal()
        while bed.passPause() {}
        #expect(bed.transport.attempts.count == loads + most)
        #expect(bed.delegate.outcomeCount == loads)
        // Another origin has a budget of its own.
        bed.loader.perform(.make("/", host: "http://other.test") { $0.maximumRetryCount = 5 })
        while bed.passPause() {}
        #expect(bed.transport.attempts.count == loads + most + 6)
        bed.expectNothingLeft()
    }

    @Test
    func `successes refill the budget one by one, and successful retries cost nothing`() {
        let bed = TestBed()
        func run(_ answers: [ScriptedAnswer]) -> Int {
            let before = bed.transport.attempts.count
            for answer in answers { bed.transport.then(answer) }
            bed.loader.perform(.make { $0.maximumRetryCount = 5 })
            while bed.passPause() {}
            return bed.transport.attempts.count - before
        }
        let origin = Origin(isSecure: false, host: "origin.test", port: 80)
        let budget = bed.service.runtime.originHealth
        for _ in 0..<50 {
            #expect(run([.fail(.dns), .respond(status: 200)]) == 2)
            #expect(budget.balance(of: origin) == 500)
        }
        #expect(run(Array(repeating: .fail(.dns), count: 6)) == 6)
        #expect(budget.balance(of: origin) == 430)
        #expect(run([.respond(status: 200)]) == 1)
        #expect(budget.balance(of: origin) == 431)
    }
}
