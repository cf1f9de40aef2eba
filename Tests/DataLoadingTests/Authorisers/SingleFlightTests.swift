// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// 1.11: however many loads, one question.
@Suite struct SingleFlightTests {
    private static let count = 1_000

    /// A thousand loads that are sent with a token which the server no longer takes, all at once.
    private func refused() async -> (TokenBed, [CancellationToken]) {
        let test = TokenBed(accepting: ["1"]) { configuration in
            configuration.limits.perOrigin = Self.count
            configuration.limits.total = Self.count
        }
        test.perform()
        await test.fetch.call(0).answer(AccessToken("1"))
        _ = await test.bed.delegate.outcomes(1)
        test.accept(["2"])
        let tokens = test.perform(Self.count)
        _ = await test.fetch.call(1)
        // All of them have been refused, and wait.
        test.bed.settle()
        return (test, tokens)
    }

    /// How the thousand ended, once they have.
    private func ends(_ test: TokenBed) async -> ArraySlice<RecordingDelegate.Event> {
        await test.bed.delegate.outcomes(1 + Self.count).dropFirst()
    }

    @Test func `a thousand refusals at once fetch one token, and all succeed`() async {
        let (test, _) = await refused()
        await test.fetch.call(1).answer(AccessToken("2"))
        #expect(await ends(test).allSatisfy { $0.response?.error == nil })
        #expect(test.fetch.count == 2)
        test.bed.expectNothingLeft()
    }

    @Test func `loads get one answer when every tenth load is cancelled`() async {
        let (test, tokens) = await refused()
        for index in stride(from: 0, to: Self.count, by: 10) { tokens[index].cancel() }
        await test.fetch.call(1).answer(AccessToken("2"))
        let ends = await ends(test)
        #expect(ends.filter { $0.response?.error == nil && $0.response != nil }.count == 900)
        #expect(ends.filter { $0.response == nil }.count == 100)
        #expect(test.fetch.count == 2)
        test.bed.expectNothingLeft()
    }

    @Test func `a refused refresh fails all of them, with one error`() async {
        let (test, _) = await refused()
        await test.fetch.call(1).fail(AuthorisationError.refused(code: "invalid_grant"))
        #expect(
            await ends(test).allSatisfy {
                $0.response?.error?.underlyingError as? AuthorisationError
                    == .refused(code: "invalid_grant")
            })
        #expect(test.fetch.count == 2)
        test.bed.expectNothingLeft()
    }

    @Test func `a new token that has expired already ends in an error, not in a circle`() async {
        let (test, _) = await refused()
        for index in 1..<5 {
            await test.fetch.call(index).answer(AccessToken("2", lifetime: .zero))
        }
        #expect(
            await ends(test).allSatisfy {
                $0.response?.error?.underlyingError as? AuthorisationError == .tooManyRefreshes
            })
        #expect(test.fetch.count == 5)
    }

    @Test(arguments: [-315_360_000, -3_600, 3_600, 315_360_000])
    func `a wall clock that jumps changes nothing`(seconds: Int) async {
        let (test, _) = await refused()
        test.clock.setDate(test.clock.date.addingTimeInterval(Double(seconds)))
        await test.fetch.call(1).answer(AccessToken("2", lifetime: .seconds(3_600)))
        #expect(await ends(test).allSatisfy { $0.response?.error == nil })
        #expect(test.fetch.count == 2)
    }

    @Test func `loads of good resources succeed though another resource always answers 401`() async
    {
        let clock = ManualClock()
        let count = Locked(0)
        let authoriser = TokenAuthoriser(
            hosts: ["origin.test"], timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: 1)),
            fetch: { _ in
                AccessToken(
                    String(
                        count.withLock {
                            $0 += 1; return $0
                        }), lifetime: .seconds(3_600))
            })
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
            }, authorisers: [authoriser], clock: clock)
        var failures = 0
        for round in 0..<20 {
            bed.loader.perform(.make("/bad", host: "https://origin.test"))
            bed.loader.perform(.make("/good", host: "https://origin.test"))
            let ends = await bed.delegate.outcomes(2 * round + 2)
            failures +=
                ends.suffix(2).filter {
                    $0.response?.request.url.path == "/good" && $0.response?.error != nil
                }.count
            clock.advance(by: .seconds(1))
        }
        #expect(
            failures == 0, "good loads that failed, of 20, with \(count.withLock { $0 }) fetches")
    }

    // The authorization server may be away for as long as it likes.
    @Test func `a token that one resource refuses serves the others when no new one can be had`()
        async
    {
        let clock = ManualClock()
        let fetch = HeldFetch<AccessToken>()
        let authoriser = TokenAuthoriser(
            hosts: ["origin.test"], timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: 1)), fetch: { try await fetch($0) })
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
            }, authorisers: [authoriser], clock: clock)
        var loads = 0
        func load(_ path: String) async -> DataLoaderError? {
            bed.loader.perform(.make(path, host: "https://origin.test"))
            loads += 1
            return await bed.delegate.outcomes(loads).last?.response?.error
        }
        async let first = load("/good")
        await fetch.call(0).answer(AccessToken("1", lifetime: .seconds(3_600)))
        #expect(await first == nil)
        for round in 1...5 {
            async let refused = load("/bad")
            await fetch.call(round).fail(TestFailure())
            #expect(await refused == .status(.unauthorised))
            // Neither is the good resource kept from its token, nor the server asked at once.
            #expect(await load("/good") == nil)
            #expect(await load("/bad") == .status(.unauthorised))
            #expect(await load("/good") == nil)
            #expect(fetch.count == round + 1)
            clock.advance(by: .seconds(61))
        }
        // A refusal for good: the token is not used any more.
        async let last = load("/bad")
        await fetch.call(6).fail(AuthorisationError.refused(code: "invalid_grant"))
        #expect(
            await last
                == .cannotAuthenticate(
                    reason: "token: the server refused: invalid_grant"))
    }

    @Test func `no fetch that was asked for before a reset begins after it`() async {
        var bad = 0
        let clock = ManualClock()
        for _ in 0..<500 {
            let isReset = Locked(false)
            let begunAfter = Locked(false)
            let authoriser = TokenAuthoriser(hosts: ["origin.test"], clock: clock) { _ in
                if isReset.withLock({ $0 }), !Task.isCancelled { begunAfter.withLock { $0 = true } }
                return AccessToken("1")
            }
            async let one: Bool = {
                guard
                    case .later(let body) = authoriser.authorise(.make(host: "https://origin.test"))
                else { return false }
                do {
                    _ = try await body()
                    return false
                } catch {
                    return (error as? AuthorisationError) == .reset
                }
            }()
            async let two: Void = {
                await authoriser.reset()
                isReset.withLock { $0 = true }
            }()
            let (wasReset, _) = await (one, two)
            if wasReset, begunAfter.withLock({ $0 }) { bad += 1 }
        }
        #expect(bad == 0)
    }
}
