// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// OM-22
@Suite struct TokenExpiryTests {
    @Test(arguments: [(1_000, 940), (100, 90)])
    func `a token is renewed beside its use when a tenth of its life is left, at most a minute`(
        lifetime: Int, renewal: Int
    ) async {
        let test = TokenBed(accepting: ["1", "2"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1", lifetime: .seconds(lifetime)))
        _ = await test.bed.delegate.outcomes(1)
        test.clock.advance(by: .seconds(renewal) - .nanoseconds(1))
        #expect(await test.load()?.error == nil)
        #expect(test.fetch.count == 1)
        test.clock.advance(by: .nanoseconds(1))
        #expect(await test.load()?.error == nil)
        let renewing = await test.fetch.call(1)
        #expect(await test.load()?.error == nil)
        #expect(test.sent == Array(repeating: "Bearer 1", count: 4))
        renewing.answer(AccessToken("2", lifetime: .seconds(lifetime)))
        await test.uses("2")
        #expect(test.fetch.count == 2)
    }

    @Test func `a load waits for the renewal when the token has expired`() async {
        let test = TokenBed(accepting: ["1", "2"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1", lifetime: .seconds(100)))
        _ = await test.bed.delegate.outcomes(1)
        test.clock.advance(by: .seconds(95))
        _ = await test.load()
        let renewing = await test.fetch.call(1)
        test.clock.advance(by: .seconds(5))
        test.perform()
        test.bed.settle()
        #expect(test.bed.transport.attempts.count == 2)
        renewing.answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(3)
        #expect(test.sent.last == "Bearer 2")
        #expect(test.fetch.count == 2)
    }

    @Test func `a token is used to its end though its renewal fails`() async {
        let test = TokenBed(accepting: ["1", "2"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1", lifetime: .seconds(10_000)))
        _ = await test.bed.delegate.outcomes(1)
        test.clock.advance(by: .seconds(9_941))
        _ = await test.load()
        await test.fetch.call(1).fail(TestFailure())
        #expect(await test.load()?.error == nil)
        // Past the pause, which begins when the failure is noted, another one sets out.
        while test.fetch.count < 3 {
            for _ in 0..<100 { await Task.yield() }
            // In small steps: the token must last until the failure is noted.
            test.clock.advance(by: .milliseconds(50))
            #expect(await test.load()?.error == nil)
        }
        await test.fetch.call(2).answer(AccessToken("2", lifetime: .seconds(100)))
        await test.uses("2")
    }

    // FAULTS 43: the wall clock does not count.
    @Test(arguments: [-315_360_000, -3_600, 3_600, 315_360_000])
    func `a token's life is counted on a monotonic clock`(seconds: Int) async {
        let test = TokenBed()
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1", lifetime: .seconds(1_000)))
        _ = await test.bed.delegate.outcomes(1)
        test.clock.setDate(test.clock.date.addingTimeInterval(Double(seconds)))
        test.clock.advance(by: .seconds(939))
        #expect(await test.load()?.error == nil)
        #expect(test.fetch.count == 1)
    }
}
