// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Testing

/// Credentials that have expired when they arrive.
@Suite struct ExpiredArrivalTests {
    private let start = Instant(nanoseconds: 0)

    // Each may cost a refresh token; the limit of five in half a minute lets 600 through.
    @Test func `credentials that always come expired are fetched about once a minute`() {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<Int>(CredentialRules())
        var fetches: [Instant] = []
        for second in 0..<3_600 {
            let now = start + .seconds(second)
            while let begun = record.ask(now: now).begin {
                fetches.append(now)
                _ = record.arrived(
                    Fetched(fetches.count, lifetime: .zero), by: begun, now: now,
                    using: &generator)
            }
        }
        #expect(fetches.count < 100)
        #expect(fetches.count > 40)
    }

    @Test func `a credential that comes expired once is replaced at once, from what it brought`()
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<String>(CredentialRules())
        let firstBegun = record.ask(now: start).begin
        let first = try #require(firstBegun)
        _ = record.arrived(
            Fetched("a", lifetime: .seconds(-1)), by: first, now: start, using: &generator)
        let secondBegun = record.ask(now: start).begin
        let second = try #require(secondBegun)
        #expect(second.seed == "a")
        _ = record.arrived(
            Fetched("b", lifetime: .seconds(60)), by: second, now: start, using: &generator)
        let used = record.use(at: start)
        #expect(used?.credential == "b")
    }

    @Test func `one that lasts ends the pauses`() throws {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<Int>(CredentialRules())
        for index in 0..<5 {
            let begun = record.ask(now: start).begin
            let fetch = try #require(begun)
            _ = record.arrived(
                Fetched(index, lifetime: .zero), by: fetch, now: start, using: &generator)
        }
        let later = start + .seconds(30)
        let begun = record.ask(now: later).begin
        let fetch = try #require(begun)
        _ = record.arrived(
            Fetched(5, lifetime: .seconds(60)), by: fetch, now: later, using: &generator)
        let end = later + .seconds(60)
        let nextBegun = record.ask(now: end).begin
        let next = try #require(nextBegun)
        _ = record.arrived(Fetched(6, lifetime: .zero), by: next, now: end, using: &generator)
        let afterwards = record.ask(now: end).begin
        #expect(afterwards != nil)
    }
}
