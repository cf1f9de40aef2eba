// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct OneFetchPropertyTests {
    /// What a run of random events has to hold to, kept beside the real thing.
    private struct World {
        typealias Fetch = CredentialRecord<Int>.Fetch

        var record = CredentialRecord<Int>(CredentialRules())
        var now = Instant(nanoseconds: 0)
        var open: [Fetch] = []
        var begins: [Instant] = []
        var stamps: [CredentialStamp] = []
        /// What was refused while it was the newest.
        var refused: Set<CredentialStamp> = []
        /// Until when what was refused may be used, as those before it were refused too.
        var distrust = Instant(nanoseconds: 0)
        var refusals = 0
        /// Whether a fetch has failed since the last one that arrived, so that none better is there.
        var hasFailed = false
        /// The fetch that was said to take long: no load has to wait for it.
        var slow = 0
        var issues: [Int: (begin: Instant, expiry: Instant)] = [:]
        var next = 0
        var generator: SeededGenerator

        mutating func begin(_ fetch: Fetch?) -> String? {
            guard let fetch else { return nil }
            if let current = record.fetch, current.number != fetch.number { return "two fetches" }
            open.append(fetch)
            begins.append(now)
            let recent = begins.filter { $0 + .seconds(30) > now }
            return recent.count > 5 ? "\(recent.count) fetches in the window" : nil
        }

        mutating func ask() -> String? {
            // Some come back from a server that did not take what they were sent with.
            let own = stamps.randomElement(using: &generator).filter(refused.contains)
            let (answer, fetch) = record.ask(now: now, refused: own)
            if let fault = begin(fetch) { return fault }
            switch answer {
            case .use(let issued):
                stamps.append(issued.stamp)
                // When nothing better may be fetched, what lasts is used all the same.
                let mayFetch = begins.filter { $0 + .seconds(30) > now }.count < 5
                let isSlow = record.fetch?.number == slow
                if refused.contains(issued.stamp), mayFetch, !hasFailed, !isSlow, now >= distrust {
                    return "used what was refused"
                }
                if issued.stamp == own, isSlow { return "used again by whom it was refused" }
                guard let known = issues[issued.credential], now < known.expiry else {
                    return "used what has expired"
                }
                return nil
            case .wait:
                guard let current = record.fetch else { return "waits for nothing" }
                return open.contains { $0.number == current.number } ? nil : "waits for the past"
            case .fail:
                return record.fetch == nil ? nil : "fails though a fetch runs"
            }
        }

        mutating func end(succeeds: Bool) -> String? {
            guard let index = open.indices.randomElement(using: &generator) else { return nil }
            let fetch = open.remove(at: index)
            let wasCurrent = record.fetch?.number == fetch.number
            if succeeds {
                next += 1
                let lifetime = Duration.seconds(Int.random(in: 0...200, using: &generator))
                issues[next] = (now, now + lifetime)
                let isTaken = record.arrived(
                    Fetched(next, lifetime: lifetime), by: fetch, now: now, using: &generator)
                if isTaken { hasFailed = false }
                return wasCurrent && !isTaken ? "dropped the fetch that runs" : nil
            }
            let error: AuthorisationError =
                Bool.random(using: &generator) ? .timedOut : .refused(code: "invalid_grant")
            let answer = record.failed(error, fetch.number, now: now, using: &generator)
            if wasCurrent { hasFailed = true }
            if answer != nil, !wasCurrent { return "failed for another fetch" }
            guard case .use(let issued) = answer else { return nil }
            // What a server refused is the best there is, unless nothing can come of it any more.
            if refused.contains(issued.stamp), error.endsCredential,
                fetch.version == issued.stamp.version
            {
                return "fell back to what was refused"
            }
            return issues[issued.credential].map { now < $0.expiry } == true
                ? nil : "fell back to the past"
        }

        mutating func takesLong() -> String? {
            guard let fetch = open.randomElement(using: &generator) else { return nil }
            let isCurrent = record.fetch?.number == fetch.number
            if isCurrent { slow = fetch.number }
            guard let issued = record.takesLong(fetch.number, now: now) else { return nil }
            if !isCurrent { return "answered for another fetch" }
            return issues[issued.credential].map { now < $0.expiry } == true
                ? nil : "gave the past"
        }

        mutating func refuse() -> String? {
            guard let stamp = stamps.randomElement(using: &generator) else { return nil }
            let newest = record.issued
            let mayBeReplaced = record.refused(stamp, now: now, using: &generator)
            guard let newest, newest.stamp == stamp else {
                return mayBeReplaced ? nil : "kept from what is newer"
            }
            if refused.insert(stamp).inserted {
                // The first four are replaced at once.
                refusals += 1
                if refusals > 4 { distrust = now + .seconds(600) }
            }
            return nil
        }

        mutating func step() -> String? {
            switch Int.random(in: 0..<22, using: &generator) {
            case 0..<8: return ask()
            case 8..<11: return end(succeeds: true)
            case 11..<13: return end(succeeds: false)
            case 13..<16: return refuse()
            case 16:
                _ = record.beginReset()
                if record.fetch != nil { return "a fetch survives a reset" }
                record.endReset()
                // Those of before may still end.
                begins = []
                hasFailed = false
                refusals = 0
                return nil
            case 17, 18: return takesLong()
            default:
                now = now + .seconds(Int.random(in: 0...40, using: &generator))
                return nil
            }
        }
    }

    @Test func `one fetch runs at a time, whatever happens`() {
        property { generator in
            var world = World(generator: generator)
            for step in 0..<40 {
                if let fault = world.step() { return "step \(step): \(fault)" }
            }
            return nil
        }
    }
}

extension Optional {
    fileprivate func filter(_ holds: (Wrapped) -> Bool) -> Wrapped? {
        flatMap { holds($0) ? $0 : nil }
    }
}
