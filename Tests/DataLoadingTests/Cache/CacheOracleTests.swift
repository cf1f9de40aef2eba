// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Testing

extension LongComputations {
    /// Random histories of requests to one URL, against a naive reading of RFC 9111.
    @Suite struct CacheOracleTests {
        @Test func `random histories end as a naive reading of the RFC says`() {
            property(cases: propertyCases * 10) { generator in
                var history = CacheHistory()
                var oracle = CacheOracle()
                var past: [String] = []
                for _ in 0..<Int.random(in: 2...7, using: &generator) {
                    let ask = CacheOracle.Ask.random(&generator)
                    let request = CacheRequest(
                        method: ask.method, headers: ask.headers, policy: ask.policy)
                    let answer: CacheHistory.Answer =
                        ask.isBroken
                        ? .breaksConnection
                        : .response(ask.status, ask.answer(at: history.now.seconds))
                    let outcome = history.perform(request, answer)
                    let (way, body) = oracle.perform(ask)
                    past.append(
                        "\(history.now.seconds - CacheHistory.epoch) s: \(ask): \(way) \(body ?? 0)"
                    )
                    guard outcome.way == way, outcome.body == body else {
                        return past.joined(separator: "\n")
                            + "\nfound \(outcome.way) \(outcome.body ?? 0)"
                    }
                    let pause = Int64.random(in: 0...6, using: &generator)
                    history.wait(.seconds(pause))
                    oracle.now += pause
                }
                return nil
            }
        }
    }
}

/// A private cache that keeps everything it ever stored and works each answer out anew, in whole
/// seconds.
private struct CacheOracle {
    typealias Way = CacheHistory.Outcome.Way

    /// A request and what the origin would answer, in the palette of the histories.
    struct Ask: CustomStringConvertible {
        var method = HTTPMethod.get
        var policy = CachePolicy.useProtocolPolicy
        var wants: [String: Int?] = [:]
        var foo: Int?
        var says: [String: Int?] = [:]
        var expiresIn: Int64?
        var modifiedAgo: Int64?
        var age: Int64?
        var tag: Int?
        var varies = false
        var status = HTTPStatus.ok
        var isBroken = false

        var description: String {
            "\(method.rawValue) \(policy) wants \(wants) foo \(foo ?? -1): \(status) says \(says) "
                + "expires \(expiresIn ?? -1) modified \(modifiedAgo ?? -1) age \(age ?? -1) "
                + "tag \(tag ?? -1) varies \(varies) broken \(isBroken)"
        }

        var headers: HTTPHeaders {
            var headers = HTTPHeaders()
            if !wants.isEmpty { headers.add(Self.text(wants), for: "Cache-Control") }
            if let foo { headers.add("\(foo)", for: "Foo") }
            return headers
        }

        func answer(at now: Int64) -> HTTPHeaders {
            var headers: HTTPHeaders = ["Date": HTTPDateText.text(now)]
            if !says.isEmpty { headers.add(Self.text(says), for: "Cache-Control") }
            if let expiresIn { headers.add(HTTPDateText.text(now + expiresIn), for: "Expires") }
            if let modifiedAgo {
                headers.add(HTTPDateText.text(now - modifiedAgo), for: "Last-Modified")
            }
            if let age { headers.add("\(age)", for: "Age") }
            if let tag { headers.add("\"\(tag)\"", for: "ETag") }
            if varies { headers.add("Foo", for: "Vary") }
            return headers
        }

        private static func text(_ directives: [String: Int?]) -> String {
            directives.sorted { $0.key < $1.key }
                .map { name, value in value.map { "\(name)=\($0)" } ?? name }
                .joined(separator: ", ")
        }

        static func random(_ generator: inout SeededGenerator) -> Ask {
            func often(_ one: Int, in count: Int) -> Bool {
                Int.random(in: 0..<count, using: &generator) < one
            }
            func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }
            var ask = Ask()
            if often(1, in: 8) { ask.method = [.head, .post, .put][number(0...2)] }
            if often(1, in: 8) { ask.policy = [.reload, .bypass, .cacheOnly][number(0...2)] }
            for name in ["no-cache", "no-store", "only-if-cached"] where often(1, in: 20) {
                ask.wants[name] = .some(nil)
            }
            for name in ["max-age", "min-fresh", "stale-if-error", "max-stale"]
            where often(1, in: 10) {
                ask.wants[name] = number(0...8)
            }
            if often(1, in: 30) { ask.wants["max-stale"] = .some(nil) }
            if often(1, in: 2) { ask.foo = number(1...2) }
            for name in [
                "no-cache", "no-store", "must-revalidate", "immutable", "public", "private",
            ] where often(1, in: 12) {
                ask.says[name] = .some(nil)
            }
            if often(4, in: 5) { ask.says["max-age"] = number(0...8) }
            for name in ["stale-while-revalidate", "stale-if-error"] where often(1, in: 5) {
                ask.says[name] = number(0...8)
            }
            if often(1, in: 5) { ask.expiresIn = Int64(number(-2...8)) }
            if often(1, in: 5) { ask.modifiedAgo = Int64(number(0...80)) }
            if often(1, in: 5) { ask.age = Int64(number(0...5)) }
            if often(1, in: 2) { ask.tag = number(1...2) }
            ask.varies = often(1, in: 4)
            if often(1, in: 5) { ask.status = [404, 500, 503, 201, 206, 301][number(0...5)] }
            ask.isBroken = often(1, in: 10)
            return ask
        }
    }

    private struct Kept {
        var foo: Int?
        var varies: Bool
        var said: Ask
        var at: Int64
        var body: Int
    }

    var now: Int64 = 0
    private var kept: [Kept] = []
    private var answers = 0

    /// The way of a request, and the number of the answer whose body it gets.
    mutating func perform(_ ask: Ask) -> (Way, Int?) {
        let isRead = ask.method == .get || ask.method == .head
        let mustStay = ask.policy == .cacheOnly || ask.wants.keys.contains("only-if-cached")
        let index = kept.lastIndex { !$0.varies || $0.foo == ask.foo }
        guard isRead, ask.policy != .bypass, let index else {
            return mustStay ? (.unavailable, nil) : asked(ask, nil, false)
        }
        if ask.policy == .reload || ask.wants.keys.contains("no-store") {
            return mustStay ? (.unavailable, nil) : asked(ask, nil, false)
        }
        let entry = kept[index]
        // In tenths of a second, because a guess may have them.
        let age = ((entry.said.age ?? 0) + now - entry.at) * 10
        let life = lifetime(entry.said)
        let isFresh = life > age
        let late = max(age - life, 0)
        let says = { entry.said.says.keys.contains($0) }
        var isTooOld = false
        if let wanted = ask.wants["max-age"] ?? nil {
            isTooOld = wanted == 0 ? !(says("immutable") && isFresh) : age > wanted * 10
        }
        if let wanted = ask.wants["min-fresh"] ?? nil {
            isTooOld = isTooOld || life - age < wanted * 10
        }
        let mustAsk = ask.wants.keys.contains("no-cache") || isTooOld
        if isFresh, !says("no-cache"), !mustAsk { return (.reused, entry.body) }
        let mayBeLate = !says("no-cache") && (isFresh || !says("must-revalidate"))
        if ask.policy == .cacheOnly {
            return mayBeLate ? (.reused, entry.body) : (.unavailable, nil)
        }
        var isTaken = false
        if let window = ask.wants["max-stale"] {
            isTaken = window.map { $0 > 0 && late <= $0 * 10 } ?? true
        }
        if mayBeLate, isTaken, !mustAsk { return (.reused, entry.body) }
        if mustStay { return (.unavailable, nil) }
        let meanwhile = (entry.said.says["stale-while-revalidate"] ?? nil) ?? 0
        if mayBeLate, !mustAsk, !ask.wants.keys.contains("max-stale"), meanwhile > 0,
            late <= meanwhile * 10
        {
            _ = asked(ask, index, true)
            return (.reused, entry.body)
        }
        let onError = [entry.said.says["stale-if-error"], ask.wants["stale-if-error"]].contains {
            if let window = $0 ?? nil { window > 0 && late <= window * 10 } else { false }
        }
        let isUsable = mayBeLate && !ask.wants.keys.contains("no-cache") && onError
        return asked(ask, index, isUsable)
    }

    /// In tenths of a second.
    private func lifetime(_ said: Ask) -> Int64 {
        if let maxAge = said.says["max-age"] ?? nil { return Int64(maxAge) * 10 }
        if let expires = said.expiresIn { return max(expires, 0) * 10 }
        let mayGuess =
            [200, 301, 404].contains(said.status.rawValue) || said.says.keys.contains("public")
        return mayGuess ? said.modifiedAgo ?? 0 : 0
    }

    private mutating func asked(_ ask: Ask, _ index: Int?, _ mayUse: Bool) -> (Way, Int?) {
        if ask.isBroken {
            return mayUse ? (.usedOnError, index.map { kept[$0].body }) : (.failed, nil)
        }
        answers += 1
        if let index {
            let old = kept[index].said
            let oldModified = old.modifiedAgo.map { kept[index].at - $0 }
            let newModified = ask.modifiedAgo.map { now - $0 }
            let hasAsked = old.tag != nil || old.modifiedAgo != nil
            let isSame =
                old.tag != nil
                ? old.tag == ask.tag : oldModified != nil && oldModified == newModified
            if hasAsked, isSame, ask.status == .ok, mayDescribe(index, ask, newModified) {
                confirm(index, ask)
                return (.validated, kept[index].body)
            }
            if ask.status == 500 || ask.status == 503, mayUse {
                return (.usedOnError, kept[index].body)
            }
        }
        if ask.method == .post || ask.method == .put, (200..<400).contains(ask.status.rawValue) {
            kept = []
        }
        if mayStore(ask) {
            kept.removeAll { !$0.varies || $0.foo == ask.foo }
            kept.append(Kept(foo: ask.foo, varies: ask.varies, said: ask, at: now, body: answers))
        }
        return (.forwarded, answers)
    }

    /// Whether a 304 with the fields of an answer speaks of what is kept: by its tag, or else by
    /// its date.
    private func mayDescribe(_ index: Int, _ ask: Ask, _ modified: Int64?) -> Bool {
        if let tag = ask.tag { return kept[index].said.tag == tag }
        return true
    }

    /// Takes over the fields of a 304; a field that it does not have stays as it was.
    private mutating func confirm(_ index: Int, _ ask: Ask) {
        var said = kept[index].said
        if !ask.says.isEmpty { said.says = ask.says }
        // `Expires` and `Last-Modified` are instants: what stays of them is nearer now.
        let passed = now - kept[index].at
        said.expiresIn = ask.expiresIn ?? said.expiresIn.map { $0 - passed }
        said.modifiedAgo = ask.modifiedAgo ?? said.modifiedAgo.map { $0 + passed }
        said.tag = ask.tag ?? said.tag
        said.age = ask.age
        kept[index].said = said
        kept[index].varies = kept[index].varies || ask.varies
        kept[index].foo = ask.foo
        kept[index].at = now
    }

    private func mayStore(_ ask: Ask) -> Bool {
        guard ask.method == .get, ask.policy != .bypass, !ask.wants.keys.contains("no-store"),
            ask.status != 206, !ask.says.keys.contains("no-store")
        else { return false }
        if [500, 503].contains(ask.status.rawValue),
            let old = kept.last(where: { !$0.varies || $0.foo == ask.foo }),
            ![500, 503].contains(old.said.status.rawValue)
        {
            return false
        }
        if [200, 404, 301].contains(ask.status.rawValue) || ask.says.keys.contains("public") {
            return true
        }
        if let maxAge = ask.says["max-age"] ?? nil { return maxAge > 0 }
        return (ask.expiresIn ?? 0) > 0
    }
}
