// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// What a scrape reads of the rates of a service.
@Suite struct RateMetricsTests {
    private let registry = MetricRegistry.make()

    private func samples(_ name: String) -> [ExpositionParser.Sample] {
        registry.samples(named: name)
    }

    @Test func `what a host without a rate has counted stays when it opens, and never falls`()
        throws
    {
        let bed = TestBed(otherwise: .respond(status: 200))
        registry.observe(bed.service)
        let limiter = bed.service.rateLimiter
        let url = testURL("https://api.test/")
        func closings(of host: String) -> [Double] {
            samples("dataloading_gate_closings_total")
                .filter { $0.labels["server_address"] == host }.map(\.value)
        }
        var own: [Double] { closings(of: "api.test") }
        try limiter.setRetryAfter(.seconds(5), for: url)
        #expect(own == [1])
        bed.advance(.seconds(5))
        #expect(own == [1])
        #expect(samples("dataloading_gate_remaining_seconds").map(\.value) == [0])
        try limiter.setRetryAfter(.seconds(5), for: url)
        #expect(own == [2])
        // Other hosts make the limiter forget it.
        bed.advance(.seconds(3_600))
        for number in 0..<200 {
            try limiter.setRetryAfter(.seconds(1), for: testURL("https://n\(number).test/"))
        }
        #expect(own == [2])
        try limiter.setRetryAfter(.seconds(5), for: url)
        #expect(own == [3])
        let state = limiter.ruleStates.first { $0.origin == "https://api.test" }
        #expect(state?.gateClosings == 1)
        #expect(closings(of: "_OTHER") == [200])
        bed.settle()
    }

    @Test func `a port that gets its labels later than its host is counted once`() throws {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1_000)
        }
        registry.observe(bed.service)
        let limiter = bed.service.rateLimiter
        registry.hosts.add(["https://api.test"])
        func admitted() -> Double {
            samples("dataloading_rate_admitted_total").map(\.value).reduce(0, +)
        }
        func admit() throws {
            let target = try RequestTarget(testURL("https://api.test:8443/"))
            #expect(limiter.reserve(limiter.ruleKey(for: target)) == .granted)
            bed.advance(ms(1))
        }
        for _ in 0..<20 { try admit() }
        #expect(admitted() == 20)
        registry.hosts.add(["https://api.test:8443"])
        #expect(admitted() == 20)
        for _ in 0..<5 { try admit() }
        #expect(admitted() == 25)
        let own = samples("dataloading_rate_admitted_total")
            .filter { $0.labels["server_port"] == "8443" }
        #expect(own.map(\.value) == [5])
    }

    @Test func `the default rate is told of hosts with labels, and of all others together`()
        throws
    {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
        }
        registry.observe(bed.service)
        func values(_ name: String) -> [String: Double] {
            Dictionary(
                samples(name).map { ($0.labels["server_address"] ?? "", $0.value) }
            ) { $1 }
        }
        #expect(values("dataloading_rate_limit_per_second") == ["_OTHER": 10])
        #expect(values("dataloading_rate_admitted_total") == ["_OTHER": 0])
        let limiter = bed.service.rateLimiter
        func admit(_ url: String) throws {
            let key = limiter.ruleKey(for: try RequestTarget(testURL(url)))
            #expect(limiter.reserve(key) == .granted)
        }
        for number in 0..<300 { try admit("http://n\(number).test/") }
        try admit("https://api.test/")
        #expect(values("dataloading_rate_limit_per_second") == ["_OTHER": 10, "api.test": 10])
        #expect(values("dataloading_rate_admitted_total") == ["_OTHER": 300, "api.test": 1])
        // A key that the limiter forgets, and a rate that is set and taken back, lose nothing.
        bed.advance(.seconds(60))
        for number in 300..<600 { try admit("http://n\(number).test/") }
        #expect(limiter.busyKeys < 400)
        #expect(values("dataloading_rate_admitted_total") == ["_OTHER": 600, "api.test": 1])
        try limiter.setRetryAfter(.seconds(7), for: testURL("http://n1.test/"))
        #expect(values("dataloading_gate_remaining_seconds")["_OTHER"] == 7)
        #expect(values("dataloading_gate_closings_total")["_OTHER"] == 1)
        limiter.setRequestsPerSecond(5, forHostOf: testURL("http://n500.test/"))
        try limiter.replaceRates([], defaultRequestsPerSecond: nil)
        #expect(values("dataloading_rate_admitted_total") == ["_OTHER": 600, "api.test": 1])
        bed.settle()
    }

    @Test func `what a rate has admitted stays when the rate is replaced`() throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        registry.observe(bed.service)
        let limiter = bed.service.rateLimiter
        let url = testURL("https://api.test/a/b")
        let name = "dataloading_rate_admitted_total"
        for total in [1.0, 2, 3] {
            limiter.setRequestsPerSecond(5, forPathOf: url)
            let key = limiter.ruleKey(for: try RequestTarget(url))
            #expect(limiter.reserve(key) == .granted)
            #expect(registry.total(name) == total)
            try limiter.replaceRates([], defaultRequestsPerSecond: nil)
            #expect(registry.total(name) == total)
        }
        bed.settle()
    }

    @Test func `what all hosts without labels did never falls, whatever becomes of them`() throws {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 100, burst: 100)
        }
        registry.nameHosts(of: bed.service, .configured)
        registry.observe(bed.service)
        let limiter = bed.service.rateLimiter
        func admit(_ number: Int, _ url: String) throws {
            let key = limiter.ruleKey(for: try RequestTarget(testURL(url)))
            for _ in 0..<number { #expect(limiter.reserve(key) == .granted) }
        }
        func admitted(_ host: String) -> Double? {
            samples("dataloading_rate_admitted_total")
                .first { $0.labels["server_address"] == host }?.value
        }
        try admit(50, "https://late.test/")
        #expect(admitted("_OTHER") == 50)
        // A host that gets a rate, and so a label, begins at zero.
        limiter.setRequestsPerSecond(100, burst: 100, forHostOf: testURL("https://late.test/"))
        try admit(3, "https://late.test/")
        #expect(admitted("_OTHER") == 53)
        try admit(4, "https://late.test/")
        #expect(admitted("_OTHER") == 53)
        #expect(admitted("late.test") == 4)
        // A gate that opens again between two looks.
        try limiter.replaceRates([], defaultRequestsPerSecond: nil)
        func closings(_ host: String) -> Double? {
            samples("dataloading_gate_closings_total")
                .first { $0.labels["server_address"] == host }?.value
        }
        for number in 1...2 {
            try limiter.setRetryAfter(.seconds(1), for: testURL("https://late.test/"))
            bed.advance(.seconds(1))
            #expect(closings("late.test") == Double(number))
            #expect(closings("_OTHER") == 0)
        }
        bed.settle()
    }

    @Test(arguments: [1, 2, 3, 5])
    func `rates have no more series than the settings allow, the others' included`(
        _ limit: Int
    ) throws {
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        let small = MetricRegistry.make(maxSeries: limit)
        small.observe(bed.service)
        let limiter = bed.service.rateLimiter
        let urls = (0..<9).map { "https://api.test/p\($0)/" } + ["https://other.test/"]
        for url in urls.map(testURL) {
            if url.host == "api.test" { limiter.setRequestsPerSecond(1, forPathOf: url) }
            #expect(limiter.reserve(limiter.ruleKey(for: try RequestTarget(url))) == .granted)
        }
        for name in ["dataloading_rate_admitted_total", "dataloading_gate_closings_total"] {
            // One more has what finds no room.
            let count = small.samples().count { $0.name == name }
            #expect(count <= limit, "\(name)")
        }
        #expect(small.total("dataloading_rate_admitted_total") == 10)
        bed.settle()
    }

    @Test func `parts beyond the maximum are counted together`() throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        limiter.adopt(ManualClock().timekeeper)
        for number in 0..<13 {
            let url = testURL("https://api.test/p\(number)/")
            limiter.setRequestsPerSecond(1, forPathOf: url)
            let key = limiter.ruleKey(for: try RequestTarget(url))
            #expect(limiter.reserve(key) == .granted)
        }
        var totals = RuleTotals(maxSeries: 12)
        for _ in 0..<2 {
            let look = totals.look(at: limiter.rateFigures, registry.hosts)
            #expect(look.rules.count == 10)
            #expect(look.totals.count == 10)
            #expect(look.totals.values.allSatisfy { $0.admitted == 1 })
            #expect(look.rest?.admitted == 3)
        }
    }
}
