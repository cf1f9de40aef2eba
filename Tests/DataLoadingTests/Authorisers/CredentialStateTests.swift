// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct CredentialStateTests {
    /// What a run of random events has to hold to, kept beside the real thing.
    private struct World {
        typealias Flight = CredentialState<Int>.Flight

        var state = CredentialState<Int>(CredentialRules())
        var now = Instant(nanoseconds: 0)
        var open: [Flight] = []
        var begins: [Instant] = []
        var stamps: [CredentialStamp] = []
        /// What was refused while it was the newest.
        var refused: Set<CredentialStamp> = []
        /// Whether a flight has failed since the last one that arrived, so that none better is there.
        var hasFailed = false
        /// The flight that was said to take long: nobody has to wait for it.
        var slow = 0
        var expiries: [Int: Instant] = [:]
        var next = 0
        var generator: SeededGenerator

        mutating func begin(_ flight: Flight?) -> String? {
            guard let flight else { return nil }
            if let current = state.flight, current.number != flight.number { return "two flights" }
            open.append(flight)
            begins.append(now)
            let recent = begins.filter { $0 + .seconds(30) > now }
            return recent.count > 5 ? "\(recent.count) flights in the window" : nil
        }

        mutating func ask() -> String? {
            // Some come back from a server that did not take what they were sent with.
            let own = stamps.randomElement(using: &generator).filter(refused.contains)
            let (answer, flight) = state.ask(now: now, refused: own)
            if let fault = begin(flight) { return fault }
            switch answer {
            case .use(let credential, let stamp):
                stamps.append(stamp)
                // When nothing better may be fetched, what lasts is used all the same.
                let mayFetch = begins.filter { $0 + .seconds(30) > now }.count < 5
                let isSlow = state.flight?.number == slow
                if refused.contains(stamp), mayFetch, !hasFailed, !isSlow {
                    return "used what was refused"
                }
                if stamp == own, isSlow { return "used again by whom it was refused" }
                guard let expiry = expiries[credential], now < expiry else {
                    return "used what has expired"
                }
                return nil
            case .wait:
                guard let current = state.flight else { return "waits for nothing" }
                return open.contains { $0.number == current.number } ? nil : "waits for the past"
            case .fail:
                return state.flight == nil ? nil : "fails though a flight is under way"
            }
        }

        mutating func end(succeeds: Bool) -> String? {
            guard let index = open.indices.randomElement(using: &generator) else { return nil }
            let flight = open.remove(at: index)
            let wasCurrent = state.flight?.number == flight.number
            if succeeds {
                next += 1
                let lifetime = Duration.seconds(Int.random(in: 0...200, using: &generator))
                expiries[next] = now + lifetime
                let isTaken = state.arrived(
                    Fetched(next, lifetime: lifetime), by: flight, now: now)
                if isTaken { hasFailed = false }
                return wasCurrent && !isTaken ? "dropped the flight that is under way" : nil
            }
            let error: AuthorisationError =
                Bool.random(using: &generator) ? .timedOut : .refused(code: "invalid_grant")
            let answer = state.failed(error, flight, now: now, using: &generator)
            if wasCurrent { hasFailed = true }
            if answer != nil, !wasCurrent { return "failed for another flight" }
            guard case .use(let credential, let stamp) = answer else { return nil }
            // What a server refused is the best there is, unless nothing can come of it any more.
            if refused.contains(stamp), error.endsCredential {
                return "fell back to what was refused"
            }
            return expiries[credential].map { now < $0 } == true ? nil : "fell back to the past"
        }

        mutating func takesLong() -> String? {
            guard let flight = open.randomElement(using: &generator) else { return nil }
            let isCurrent = state.flight?.number == flight.number
            if isCurrent { slow = flight.number }
            guard case .use(let credential, _)? = state.takesLong(flight.number, now: now) else {
                return nil
            }
            if !isCurrent { return "answered for another flight" }
            return expiries[credential].map { now < $0 } == true ? nil : "gave the past"
        }

        mutating func step() -> String? {
            switch Int.random(in: 0..<22, using: &generator) {
            case 0..<8: return ask()
            case 8..<11: return end(succeeds: true)
            case 11..<13: return end(succeeds: false)
            case 13..<16:
                guard let stamp = stamps.randomElement(using: &generator) else { return nil }
                if state.refused(stamp) != nil { refused.insert(stamp) }
                return nil
            case 16: return begin(state.refresh(now: now))
            case 17:
                _ = state.beginReset()
                if state.flight != nil { return "a flight survives a reset" }
                state.endReset()
                // Those of before may still end.
                begins = []
                hasFailed = false
                return nil
            case 18, 19: return takesLong()
            default:
                now = now + .seconds(Int.random(in: 0...40, using: &generator))
                return nil
            }
        }
    }

    // FAULTS P9
    @Test func `P9 one flight at a time, whatever happens`() {
        property { generator in
            var world = World(generator: generator)
            for step in 0..<40 {
                if let fault = world.step() { return "step \(step): \(fault)" }
            }
            return nil
        }
    }

    @Test func `knows which version was refused`() throws {
        var state = CredentialState<String>(CredentialRules(), first: "a")
        let start = Instant(nanoseconds: 0)
        let firstFound = state.use(at: start)
        let first = try #require(firstFound)
        let flightFound = state.refresh(now: start)
        let flight = try #require(flightFound)
        _ = state.arrived(Fetched("b", lifetime: nil), by: flight, now: start)
        #expect(state.hasNewer(than: first.stamp))
        let stale = state.refused(first.stamp)
        #expect(stale == nil)
        let secondFound = state.use(at: start)
        let second = try #require(secondFound)
        #expect(second.credential == "b")
        #expect(!state.hasNewer(than: second.stamp))
        let refused = [state.refused(second.stamp), state.refused(second.stamp)]
        #expect(refused == ["b", nil])
    }

    @Test func `pauses after a renewal that failed, though what was there has expired`() throws {
        var generator = SeededGenerator(seed: 1)
        var state = CredentialState<String>(CredentialRules())
        let start = Instant(nanoseconds: 0)
        let firstFound = state.ask(now: start).begin
        let first = try #require(firstFound)
        _ = state.arrived(Fetched("a", lifetime: .seconds(100)), by: first, now: start)
        let renewal = start + .seconds(95)
        let secondFound = state.ask(now: renewal).begin
        let second = try #require(secondFound)
        let expiry = start + .seconds(100)
        let heard = state.failed(TestFailure(), second, now: expiry, using: &generator)
        #expect(heard == nil)
        let (answer, tooEarly) = state.ask(now: expiry)
        guard case .fail(let error) = answer else {
            Issue.record("not refused")
            return
        }
        #expect(error is TestFailure)
        #expect(tooEarly == nil)
        let afterwards = state.ask(now: expiry + .seconds(2)).begin
        #expect(afterwards != nil)
    }

    @Test func `gives what lasts to all but whom it was refused, once a flight takes long`()
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var state = CredentialState<String>(CredentialRules())
        let start = Instant(nanoseconds: 0)
        let firstFound = state.ask(now: start).begin
        let first = try #require(firstFound)
        _ = state.arrived(Fetched("a", lifetime: .seconds(100)), by: first, now: start)
        let usedFound = state.use(at: start)
        let used = try #require(usedFound)
        _ = state.refused(used.stamp)
        let secondFound = state.ask(now: start, refused: used.stamp).begin
        let second = try #require(secondFound)
        guard case .wait = state.ask(now: start).0 else {
            Issue.record("a token that was refused is used while another one may come at once")
            return
        }
        let given = state.takesLong(second.number, now: start)
        guard case .use("a", _)? = given, case .wait = state.ask(now: start, refused: used.stamp).0
        else {
            Issue.record("\(String(describing: given))")
            return
        }
        let other = state.use(at: start)
        #expect(other?.credential == "a")
        // One more refusal changes nothing, and neither does a refresh: a flight is under way.
        let again = state.refused(used.stamp)
        #expect(again == nil)
        let another = state.refresh(now: start)
        #expect(another == nil)
        let later = state.use(at: start)
        #expect(later?.credential == "a")
        // Who waits hears of the end.
        let heard = state.failed(AuthorisationError.timedOut, second, now: start, using: &generator)
        guard case .use("a", _)? = heard else {
            Issue.record("\(String(describing: heard))")
            return
        }
    }

    @Test func `takes nothing from before a reset`() throws {
        var state = CredentialState<String>(CredentialRules())
        let start = Instant(nanoseconds: 0)
        let flightFound = state.ask(now: start).begin
        let flight = try #require(flightFound)
        _ = state.beginReset()
        let late = state.arrived(Fetched("late", lifetime: nil), by: flight, now: start)
        #expect(!late)
        let isUsable = state.use(at: start) != nil
        #expect(!isUsable)
        state.endReset()
        let later = state.arrived(Fetched("late", lifetime: nil), by: flight, now: start)
        #expect(!later)
        let nextFound = state.ask(now: start).begin
        let next = try #require(nextFound)
        #expect(next.previous == nil)
    }
}

extension Optional {
    fileprivate func filter(_ holds: (Wrapped) -> Bool) -> Wrapped? {
        flatMap { holds($0) ? $0 : nil }
    }
}

extension CredentialState {
    /// What a request that asks now would be sent with.
    fileprivate mutating func use(
        at now: Instant
    ) -> (credential: Credential, stamp: CredentialStamp)? {
        guard case .use(let credential, let stamp) = ask(now: now).0 else { return nil }
        return (credential, stamp)
    }
}
