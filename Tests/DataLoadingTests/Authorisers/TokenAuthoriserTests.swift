// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct TokenAuthoriserTests {
    // OL-01, OL-02, OL-03, OL-10
    @Test func `a token is fetched once for all loads that wait, and they are sent in their order`()
        async
    {
        let test = TokenBed()
        test.perform(100)
        let call = await test.fetch.call(0)
        #expect(call.previous == nil)
        #expect(test.bed.transport.attempts.isEmpty)
        await eventually { test.authoriser.credentials.waiterCount == 100 }
        call.answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(100)
        #expect(test.errors == Array(repeating: nil, count: 100))
        #expect(test.bed.transport.attempts.map(\.request.url.path) == (0..<100).map { "/\($0)" })
        #expect(test.fetch.count == 1)
    }

    @Test func `a token authoriser answers at once while it has a token`() async {
        let test = TokenBed()
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(1)
        test.clock.advance(by: .seconds(100_000_000))
        #expect(await test.load()?.error == nil)
        #expect(test.fetch.count == 1)
    }

    // OL-05: cancelled while held.
    @Test func `a cancelled load stops waiting for a token, and no other does`() async {
        let test = TokenBed()
        let tokens = test.perform(3)
        let call = await test.fetch.call(0)
        await eventually { test.authoriser.credentials.waiterCount == 3 }
        tokens[1].cancel()
        call.answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(3)
        #expect(test.errors.filter { $0 == .cancelled }.count == 1)
        #expect(test.bed.transport.attempts.map(\.request.url.path) == ["/0", "/2"])
    }

    @Test func `a token authoriser tells two loads of one request apart`() async {
        let test = TokenBed()
        let request = DataLoaderRequest.make("/same", host: "https://origin.test")
        let first = test.bed.loader.perform(request)
        test.bed.loader.perform(request)
        let call = await test.fetch.call(0)
        first.cancel()
        call.answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(2)
        #expect(Set(test.errors) == [.cancelled, nil])
        #expect(test.bed.transport.attempts.count == 1)
    }

    @Test func `a token is kept though no load waits for its fetch any more`() async {
        let test = TokenBed()
        let token = test.perform()[0]
        let call = await test.fetch.call(0)
        token.cancel()
        call.answer(AccessToken("1"))
        #expect(await test.load()?.error == nil)
        #expect(test.fetch.count == 1)
    }

    // MARK: Refusals (OL-22, BA-18)

    @Test func `a refused token is fetched anew, and the load is sent once more`() async {
        let test = TokenBed(accepting: ["2"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        let second = await test.fetch.call(1)
        #expect(second.previous == AccessToken("1"))
        second.answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(1)
        #expect(test.errors == [nil])
        #expect(test.sent == ["Bearer 1", "Bearer 2"])
    }

    @Test func `a second 401 is delivered, and a second later that token is not used again`() async
    {
        let test = TokenBed(accepting: ["3"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        await test.fetch.call(1).answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(1)
        #expect(test.errors == [.status(.unauthorised)])
        // The token was refused as soon as the one before it.
        test.clock.advance(by: .seconds(1))
        test.perform()
        await test.fetch.call(2).answer(AccessToken("3"))
        _ = await test.bed.delegate.outcomes(2)
        #expect(test.sent == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test func `a load whose older token was refused is sent with the newer one`() async {
        let test = TokenBed(accepting: ["1"]) { $0.limits.perOrigin = 1 }
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(1)
        // Both are authorised with the first token, and wait for the one connection.
        test.accept(["2"])
        test.perform(2)
        await test.fetch.call(1).answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(3)
        #expect(test.errors == [nil, nil, nil])
        #expect(test.fetch.count == 2)
    }

    @Test func `a 401 about the scope is delivered, and the token is kept`() async {
        let test = TokenBed(accepting: [], challenge: "Bearer error=\"insufficient_scope\"")
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(1)
        #expect(test.errors == [.status(.unauthorised)])
        test.accept(["1"])
        #expect(await test.load()?.error == nil)
        #expect(test.fetch.count == 1)
        #expect(test.sent == ["Bearer 1", "Bearer 1"])
    }

    // MARK: Failures

    @Test
    func `loads that wait fail with the error of the fetch, and the next fetch is later`()
        async
    {
        let test = TokenBed()
        test.perform(3)
        await test.fetch.call(0).fail(TestFailure())
        let ends = await test.bed.delegate.outcomes(3)
        let refused = DataLoaderError.cannotAuthenticate(reason: "token failed: TestFailure")
        #expect(test.errors == [refused, refused, refused])
        #expect(ends.allSatisfy { $0.response?.error?.underlyingError is TestFailure })
        #expect(await test.load()?.error?.underlyingError is TestFailure)
        #expect(test.fetch.count == 1)
        test.clock.advance(by: .seconds(2))
        test.perform()
        await test.fetch.call(1).answer(AccessToken("1"))
        #expect(await test.bed.delegate.outcomes(5).last?.response?.error == nil)
    }

    @Test func `a token that was refused for good is dropped, and no newer one`() async {
        let test = TokenBed(accepting: ["2"])
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        await test.fetch.call(1).fail(AuthorisationError.refused(code: "invalid_grant"))
        _ = await test.bed.delegate.outcomes(1)
        #expect(
            test.errors == [.cannotAuthenticate(reason: "token: the server refused: invalid_grant")]
        )
        test.clock.advance(by: .seconds(2))
        test.perform()
        let call = await test.fetch.call(2)
        #expect(call.previous == nil)
        call.answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(2)
    }

    @Test func `a fetch fails its loads after thirty seconds, and its token is still kept`() async {
        let test = TokenBed()
        test.perform()
        let call = await test.fetch.call(0)
        await test.clock.waitForAlarms(1, within: .seconds(30))
        test.clock.advance(by: .seconds(30) - .nanoseconds(1))
        test.bed.settle()
        #expect(test.errors.isEmpty)
        test.clock.advance(by: .nanoseconds(1))
        let ends = await test.bed.delegate.outcomes(1)
        #expect(ends[0].response?.error?.underlyingError as? AuthorisationError == .timedOut)
        call.answer(AccessToken("1"))
        await test.uses("1")
        #expect(test.fetch.count == 1)
    }

    // OL-21
    @Test
    func `an authoriser fetches five times in half a minute at most when tokens come expired`()
        async
    {
        let test = TokenBed()
        test.perform(100)
        for index in 0..<5 {
            await test.fetch.call(index).answer(AccessToken("\(index)", lifetime: .zero))
        }
        let ends = await test.bed.delegate.outcomes(100)
        #expect(
            ends.allSatisfy {
                $0.response?.error?.underlyingError as? AuthorisationError == .tooManyRefreshes
            })
        #expect(test.bed.transport.attempts.isEmpty)
        #expect(test.fetch.count == 5)
        test.clock.advance(by: .seconds(30))
        test.perform()
        await test.fetch.call(5).answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(101)
        #expect(test.sent == ["Bearer 1"])
    }

    // MARK: Owners

    @Test func `a reset drops the token and the fetch that runs`() async {
        let test = TokenBed(accepting: ["2"])
        test.perform()
        let call = await test.fetch.call(0)
        await test.bed.factory.reset()
        #expect(test.errors == [.reset])
        call.answer(AccessToken("1"))
        test.perform()
        let second = await test.fetch.call(1)
        #expect(second.previous == nil)
        second.answer(AccessToken("2"))
        _ = await test.bed.delegate.outcomes(2)
        #expect(test.sent == ["Bearer 2"])
    }

    // SP-16
    @Test(arguments: ["http://origin.test", "https://other.test", "https://origin.test.evil.test"])
    func `a token is not sent to other hosts or over plain http`(host: String) async {
        let test = TokenBed()
        test.bed.loader.perform(.make(host: host))
        _ = await test.bed.delegate.outcomes(1)
        #expect(test.sent == ["none"])
        #expect(test.fetch.count == 0)
    }

    @Test func `a key in another field is added to a request with an Authorization field`() async {
        let clock = ManualClock()
        let bearer = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in AccessToken("b") }
        let key = TokenAuthoriser(
            hosts: ["origin.test"], clock: clock, apply: { $1.headers["X-Key"] = $0.value },
            fetch: { _ in AccessToken("k") })
        let bed = TestBed(
            otherwise: .respond(status: 200), authorisers: [bearer, key], clock: clock)
        bed.loader.perform(.make(host: "https://origin.test"))
        _ = await bed.delegate.outcomes(1)
        let headers = bed.transport.attempts.first?.request.headers
        #expect(headers?["Authorization"] == "Bearer b")
        #expect(headers?["X-Key"] == "k")
    }

    @Test func `no token is fetched for a load that may only use the cache`() async {
        let test = TokenBed()
        test.bed.factory.isOffline = true
        test.perform()
        for _ in 0..<100 { await Task.yield() }
        #expect(test.fetch.count == 0)
        #expect(test.errors == [.notCached])
        test.bed.loader.cancelAllLoads()
    }
}

struct TestFailure: Error {}

extension TokenBed {
    /// Loads until a token is used that a fetch has brought just now, in another task.
    func uses(_ token: String) async {
        while sent.last != "Bearer " + token {
            _ = await load()
            await Task.yield()
        }
    }
}
