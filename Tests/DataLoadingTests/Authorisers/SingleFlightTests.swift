// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

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

    @Test func `so do those that are left when every tenth is cancelled`() async {
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
                $0.response?.underlyingError as? AuthorisationError
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
                $0.response?.underlyingError as? AuthorisationError == .tooManyRefreshes
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
}
