// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct CredentialRecordTests {
    private let start = Instant(nanoseconds: 0)

    @Test func `a record knows which version was refused`() throws {
        var record = CredentialRecord<String>(CredentialRules(), first: "a")
        var generator = SeededGenerator(seed: 1)
        let firstFound = record.use(at: start)
        let first = try #require(firstFound)
        let isWorthIt = record.refused(first.stamp, now: start, using: &generator)
        #expect(isWorthIt)
        let fetchFound = record.ask(now: start).begin
        let fetch = try #require(fetchFound)
        #expect(fetch.seed == "a")
        _ = record.arrived(Fetched("b", lifetime: nil), by: fetch, now: start, using: &generator)
        // There is a newer one already: nothing is fetched for an older one.
        let isStaleWorthIt = record.refused(first.stamp, now: start, using: &generator)
        #expect(isStaleWorthIt)
        let secondFound = record.use(at: start)
        let second = try #require(secondFound)
        #expect(second.credential == "b")
        #expect(!second.isDoubted)
        #expect(record.fetch == nil)
    }

    @Test func `a record pauses after a renewal that failed, though its credential has expired`()
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<String>(CredentialRules())
        try record.fetch("a", lifetime: .seconds(100), at: start)
        let secondFound = record.ask(now: start + .seconds(95)).begin
        let second = try #require(secondFound)
        let expiry = start + .seconds(100)
        _ = record.failed(TestFailure(), second.number, now: expiry, using: &generator)
        let (answer, tooEarly) = record.ask(now: expiry)
        guard case .fail(let error) = answer else {
            Issue.record("not refused")
            return
        }
        #expect(error is TestFailure)
        #expect(tooEarly == nil)
        let afterwards = record.ask(now: expiry + .seconds(2)).begin
        #expect(afterwards != nil)
    }

    @Test func `a record gives what lasts to all but whom it was refused, once a fetch takes long`()
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<String>(CredentialRules())
        try record.fetch("a", lifetime: .seconds(100), at: start)
        let usedFound = record.use(at: start)
        let used = try #require(usedFound)
        _ = record.refused(used.stamp, now: start, using: &generator)
        let secondFound = record.ask(now: start, refused: used.stamp).begin
        let second = try #require(secondFound)
        guard case .wait = record.ask(now: start).0 else {
            Issue.record("a token that was refused is used while another one may come at once")
            return
        }
        let given = record.takesLong(second.number, now: start)
        guard given?.credential == "a", case .wait = record.ask(now: start, refused: used.stamp).0
        else {
            Issue.record("\(String(describing: given))")
            return
        }
        let other = record.use(at: start)
        #expect(other?.credential == "a")
        // One more refusal changes nothing: a fetch runs.
        let again = record.refused(used.stamp, now: start, using: &generator)
        #expect(again)
        let later = record.use(at: start)
        #expect(later?.credential == "a")
        // Loads that wait are told of the end.
        let heard = record.failed(
            AuthorisationError.timedOut, second.number, now: start, using: &generator)
        guard case .use(let issued)? = heard, issued.credential == "a" else {
            Issue.record("\(String(describing: heard))")
            return
        }
    }

    @Test func `a record takes nothing from before a reset`() throws {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<String>(CredentialRules())
        let fetchFound = record.ask(now: start).begin
        let fetch = try #require(fetchFound)
        _ = record.beginReset()
        let late = record.arrived(
            Fetched("late", lifetime: nil), by: fetch, now: start, using: &generator)
        #expect(!late)
        let isUsable = record.use(at: start) != nil
        #expect(!isUsable)
        record.endReset()
        let later = record.arrived(
            Fetched("late", lifetime: nil), by: fetch, now: start, using: &generator)
        #expect(!later)
        let nextFound = record.ask(now: start).begin
        let next = try #require(nextFound)
        #expect(next.seed == nil)
    }

    // The authorization server may be away; what one resource refuses may be good for the others.
    @Test func `a refused credential is used when the fetch of another one has failed`() throws {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<String>(CredentialRules())
        try record.fetch("a", lifetime: .seconds(1_000), at: start)
        let usedFound = record.use(at: start)
        let used = try #require(usedFound)
        _ = record.refused(used.stamp, now: start, using: &generator)
        let fetchFound = record.ask(now: start, refused: used.stamp).begin
        let fetch = try #require(fetchFound)
        _ = record.failed(TestFailure(), fetch.number, now: start, using: &generator)
        let during = record.use(at: start)
        #expect(during?.credential == "a")
        // The next fetch runs beside its use, but for those that it was refused for.
        let after = start + .seconds(10)
        let (answer, begun) = record.ask(now: after)
        guard case .use = answer, begun != nil,
            case .wait = record.ask(now: after, refused: used.stamp).0
        else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `a credential whose seed is refused by its server is used no more once doubted`()
        throws
    {
        for isDoubted in [true, false] {
            var generator = SeededGenerator(seed: 1)
            var record = CredentialRecord<String>(CredentialRules())
            try record.fetch("a", lifetime: .seconds(1_000), at: start)
            let now = start + .seconds(950)
            let usedFound = record.use(at: start)
            let used = try #require(usedFound)
            if isDoubted { _ = record.refused(used.stamp, now: now, using: &generator) }
            let fetchFound = record.ask(now: now).begin
            let fetch = try #require(fetchFound)
            _ = record.failed(
                AuthorisationError.refused(code: "invalid_grant"), fetch.number, now: now,
                using: &generator)
            let usable = record.use(at: now)
            #expect((usable == nil) == isDoubted)
            let nextFound = record.ask(now: start + .seconds(1_100)).begin
            let next = try #require(nextFound)
            #expect(next.seed == nil)
        }
    }

    @Test func `a credential that is refused at once again is replaced later each time`() throws {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<Int>(CredentialRules())
        try record.fetch(0, lifetime: .seconds(100_000), at: start)
        var now = start
        var pauses: [Duration] = []
        for round in 1...12 {
            let usedFound = record.use(at: now)
            let used = try #require(usedFound)
            _ = record.refused(used.stamp, now: now, using: &generator)
            let refused = now
            while record.fetch == nil, now - refused < .seconds(10_000) {
                _ = record.ask(now: now)
                if record.fetch == nil { now = now + .milliseconds(100) }
            }
            let fetchFound = record.fetch
            let fetch = try #require(fetchFound)
            pauses.append(now - refused)
            _ = record.arrived(
                Fetched(round, lifetime: .seconds(100_000)), by: fetch, now: now, using: &generator)
        }
        #expect(pauses.prefix(4).allSatisfy { $0 == .zero })
        // The fifth would follow after a second, but the window is full.
        #expect(pauses[4] == CredentialRules().window)
        #expect(zip(pauses.dropFirst(5), pauses.dropFirst(6)).prefix(5).allSatisfy { $0 < $1 })
        #expect(pauses.allSatisfy { $0 <= .seconds(600) })
        // One that was used for ten minutes is replaced at once.
        now = now + .seconds(600)
        let usedFound = record.use(at: now)
        let used = try #require(usedFound)
        _ = record.refused(used.stamp, now: now, using: &generator)
        let begun = record.ask(now: now).begin
        #expect(begun != nil)
    }

    @Test
    func `credentials that live for minutes are trusted again after ten minutes without a refusal`()
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var record = CredentialRecord<Int>(CredentialRules())
        var now = start
        try record.fetch(0, lifetime: .seconds(300), at: now)
        // Refused until the pauses are long, and then not for a day.
        for round in 1...400 {
            let (answer, begun) = record.ask(now: now)
            if let begun {
                _ = record.arrived(
                    Fetched(round, lifetime: .seconds(300)), by: begun, now: now, using: &generator)
            }
            if round < 15, case .use(let used) = answer {
                _ = record.refused(used.stamp, now: now, using: &generator)
            }
            now = now + .seconds(round < 15 ? 31 : 200)
        }
        if let begun = record.ask(now: now).begin {
            _ = record.arrived(
                Fetched(0, lifetime: .seconds(300)), by: begun, now: now, using: &generator)
        }
        let usedFound = record.use(at: now)
        let used = try #require(usedFound)
        _ = record.refused(used.stamp, now: now, using: &generator)
        let next = record.ask(now: now).begin
        #expect(next != nil)
    }

    @Test func `without a back-off one refusal is one reason to ask for another credential`() throws
    {
        var generator = SeededGenerator(seed: 1)
        var rules = CredentialRules()
        rules.backOff = nil
        var record = CredentialRecord<Int>(rules, first: 0)
        var now = start
        var questions = 0
        for second in 0..<3_600 {
            let usedFound = record.use(at: now)
            let used = try #require(usedFound)
            if second == 0 { _ = record.refused(used.stamp, now: now, using: &generator) }
            if let begun = record.ask(now: now).begin {
                questions += 1
                _ = record.failed(
                    AuthorisationError.noCredentials, begun.number, now: now, using: &generator)
            }
            now = now + .seconds(1)
        }
        #expect(questions == 1)
    }
}

extension CredentialRecord {
    /// What a request that asks now would be sent with.
    mutating func use(at now: Instant) -> Issued? {
        guard case .use(let issued) = ask(now: now).0 else { return nil }
        return issued
    }

    /// Has a first fetch bring a credential.
    fileprivate mutating func fetch(
        _ credential: Credential, lifetime: Duration?, at now: Instant
    ) throws {
        var generator = SeededGenerator(seed: 1)
        let begun = ask(now: now).begin
        let fetch = try #require(begun)
        _ = arrived(Fetched(credential, lifetime: lifetime), by: fetch, now: now, using: &generator)
    }
}
