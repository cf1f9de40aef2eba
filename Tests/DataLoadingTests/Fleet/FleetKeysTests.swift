// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingFleet
import Testing

@Suite struct FleetKeysTests {
    private let key = QuotaKey(scheme: "https", host: "api.test", port: 443)

    @Test func `names have one length and no text of a user`() {
        for text in ["feeds", "", "{a}", String(repeating: "x", count: 10_000)] {
            let keys = FleetKeys(namespace: text)
            var part = key
            part.pathComponent = text
            let names = [keys.members, keys.departures, keys.gates] + keys.line(of: part)
            #expect(names.allSatisfy { $0.hasPrefix("dl:{") && $0.utf8.count <= 32 })
            #expect(names.allSatisfy { $0.count { $0 == "{" } == 1 })
            #expect(names.allSatisfy { $0.dropFirst(4).prefix(16).allSatisfy(\.isHexDigit) })
        }
    }

    @Test func `what differs has another name, and the two names of a line have one tag`() {
        var keys = [key]
        keys.append(QuotaKey(scheme: "http", host: "api.test", port: 443))
        keys.append(QuotaKey(scheme: "https", host: "api.test", port: 8_443))
        keys.append(QuotaKey(scheme: "https", host: "api.tes", port: 443))
        keys.append(QuotaKey(scheme: "https", host: "api.test", port: 443, pathComponent: ""))
        keys.append(QuotaKey(scheme: "https", host: "api.test", port: 443, pathComponent: "a"))
        let names = ["feeds", "feed"].map(FleetKeys.init).flatMap { fleet in
            keys.map { fleet.line(of: $0) }
        }
        #expect(Set(names).count == 12)
        #expect(names.allSatisfy { $0[0].dropLast(4) == $0[1].dropLast(6) })
        for key in keys { #expect(GateName.key(of: GateName.text(of: key)) == key) }
    }

    @Test func `a question's arguments are whole numbers within bounds, whatever is asked`() throws
    {
        let question = LeaseQuestion(
            QuotaRequest(
                key: key, requestsPerSecond: 3, burst: 2, count: 4, longestWait: .seconds(1),
                knownLead: .milliseconds(5)),
            of: "m", window: .milliseconds(100), known: 8, asked: 1_767_225_600_000_000)
        #expect(
            question.arguments == [
                "m", "\(1e6 / 3)", "2", "4", "1000000", "100000", "5000", "8",
                "1767225600000000",
            ])
        let extreme = LeaseQuestion(
            QuotaRequest(
                key: key, requestsPerSecond: .greatestFiniteMagnitude, burst: .max, count: .max,
                longestWait: nil, knownLead: .seconds(Int64.max)),
            of: "m", window: .seconds(1), known: 0, asked: nil)
        #expect(
            extreme.arguments == [
                "m", "0.001", "1000000", "1000000", "-1", "1000000", "3600000000", "1", "0",
            ])
        for rate in [0, -1, Double.nan, .infinity, -.infinity] {
            let question = LeaseQuestion(
                QuotaRequest(
                    key: key, requestsPerSecond: rate, burst: 1, count: 1, longestWait: nil,
                    knownLead: .zero),
                of: "m", window: .seconds(1), known: 1, asked: nil)
            let interval = try #require(Double(question.arguments[1]))
            #expect((0.001...1e12).contains(interval))
        }
    }

    @Test(arguments: [
        RESPValue.null, .array([]), .array([.number(1), .number(-1), .number(0), .number(0)]),
        .array([.number(1), .number(1), .number(0)]),
        .array([.number(1), .null, .number(0), .number(0)]),
        .array([.number(.max), .number(1), .number(0), .number(0)]),
        .array([.number(0), .number(0), .number(3_600_000_001), .number(0)]),
        .array([.number(0), .number(0), .number(0), .number(.min)]),
    ])
    func `a reply that is no lease is an error`(_ reply: RESPValue) {
        let question = LeaseQuestion(
            QuotaRequest(
                key: key, requestsPerSecond: 1, burst: 1, count: 1, longestWait: nil,
                knownLead: .zero),
            of: "m", window: .seconds(1), known: 1, asked: nil)
        #expect(throws: FleetReplyError.self) { try question.lease(from: reply) }
    }
}
