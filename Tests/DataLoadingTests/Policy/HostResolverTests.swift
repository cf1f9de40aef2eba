// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

// SP-13
@Suite struct HostResolverTests {
    private let clock = ManualClock()
    private let resolver = HostResolver()

    init() {
        resolver.adopt(clock.timekeeper, random: RandomSource(SeededGenerator(seed: 7)))
    }

    private func choose(excluding excluded: Set<String> = []) -> HostResolver.Candidate? {
        resolver.choose(forHost: "a.test", excluding: excluded)
    }

    private func report(_ address: String, _ outcomes: AddressOutcome...) {
        let candidate: HostResolver.Candidate = address == "a.test" ? .name : .address(address)
        for outcome in outcomes {
            resolver.report(candidate, forHost: "a.test", outcome: outcome)
        }
    }

    @Test func `without addresses a host is resolved by its name`() {
        #expect(choose() == .name)
        #expect(choose(excluding: ["a.test"]) == nil)
        #expect(resolver.address(forHost: "A.test") == "A.test")
        report("a.test", .nothingWritten, .nothingWritten)
        #expect(choose() == .name)
        #expect(resolver.unhealthyCount == 0)
    }

    @Test func `tries addresses in order, the DNS name last`() {
        resolver.setAddresses(["10.0.0.1", "b.test:8443"], forHost: "A.TEST")
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose(excluding: ["10.0.0.1"]) == .address("b.test:8443"))
        #expect(choose(excluding: ["10.0.0.1", "b.test:8443"]) == .name)
        #expect(choose(excluding: ["10.0.0.1", "b.test:8443", "a.test"]) == nil)
        #expect(resolver.choose(forHost: "other.test") == .name)
        #expect(resolver.address(forHost: "a.test") == "10.0.0.1")
    }

    @Test func `keeps a host's own name where it is listed`() {
        resolver.setAddresses(["a.test", "10.0.0.1", "10.0.0.1"], forHost: "a.test")
        #expect(choose() == .name)
        #expect(choose(excluding: ["a.test"]) == .address("10.0.0.1"))
        #expect(choose(excluding: ["a.test", "10.0.0.1"]) == nil)
    }

    @Test(arguments: [
        "host", "host.test:8443", "10.0.0.1", "10.0.0.1:1", "[::1]", "[2001:DB8::1]:65535", "x_y",
    ])
    func `takes what is an address`(address: String) {
        resolver.setAddresses([address], forHost: "a.test")
        #expect(resolver.address(forHost: "a.test") == address.lowercased())
    }

    @Test(arguments: [
        "", " ", "a b", "http://x", "x/y", "x?y", "x#y", "u@x", "::1", "[::1", "x:0", "x:65536",
        "x:", "x:-1", "[::1]x", "x:1:2", "x\r\ny", "ä.test", "%61.test",
    ])
    func `takes no list in which one is none, and says so`(address: String) throws {
        resolver.setAddresses(["10.0.0.2"], forHost: "a.test")
        resolver.setAddresses([address, "10.0.0.1"], forHost: "a.test")
        #expect(throws: DataLoaderError.malformedAddress) { try resolver.validate() }
        #expect(resolver.address(forHost: "a.test") == "10.0.0.2")
        resolver.markAddressAsUnreachable(address)
        resolver.setAddresses([], forHost: "a.test")
        try resolver.validate()
        #expect(resolver.address(forHost: "a.test") == "a.test")
        resolver.setAddresses(["10.0.0.2"], forHost: address)
        #expect(throws: DataLoaderError.malformedAddressedHost) { try resolver.validate() }
        resolver.setAddresses([], forHost: address)
        try resolver.validate()
    }

    @Test func `leaves an address out at once when no connection came about`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .nothingWritten)
        #expect(choose() == .name)
        clock.advance(by: .milliseconds(14_999))
        #expect(choose() == .name)
        clock.advance(by: .seconds(16))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `the fifth trouble in a row leaves an address out`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<2 {
            for _ in 0..<4 {
                report("10.0.0.1", .serverTrouble)
                #expect(choose() == .address("10.0.0.1"))
            }
            report("10.0.0.1", .success)
        }
        report("10.0.0.1", .serverTrouble, .neutral, .serverTrouble, .serverTrouble, .neutral)
        report("10.0.0.1", .serverTrouble)
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .serverTrouble)
        #expect(choose() == .name)
    }

    @Test func `ejections double up to 300 s, half of them random, until a success`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<2 {
            for seconds in [30, 60, 120, 240, 300, 300, 300] as [Int64] {
                report("10.0.0.1", .nothingWritten)
                let begun = clock.now
                while choose() == .name { clock.advance(by: .milliseconds(100)) }
                let ejected = clock.now - begun
                #expect(ejected >= .milliseconds(500 * seconds))
                #expect(ejected <= .milliseconds(1_000 * seconds + 100))
            }
            report("10.0.0.1", .success)
            #expect(resolver.unhealthyCount == 0)
        }
    }

    @Test func `ejections are as long as they were set, and never negative or endless`() {
        let resolver = HostResolver(
            firstEjection: .milliseconds(400), longestEjection: .seconds(1))
        resolver.adopt(clock.timekeeper, random: RandomSource(SeededGenerator(seed: 7)))
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for milliseconds in [400, 800, 1_000, 1_000] as [Int64] {
            resolver.report(.address("10.0.0.1"), forHost: "a.test", outcome: .nothingWritten)
            clock.advance(by: .milliseconds(milliseconds / 2 - 1))
            #expect(resolver.choose(forHost: "a.test") == .name)
            clock.advance(by: .milliseconds(milliseconds / 2 + 1))
            #expect(resolver.choose(forHost: "a.test") == .address("10.0.0.1"))
        }
        for limit in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
            let resolver = HostResolver(firstEjection: limit, longestEjection: limit)
            resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
            for _ in 0..<40 { resolver.markAddressAsUnreachable("10.0.0.1") }
            #expect(resolver.unhealthyCount == 1)
        }
    }

    /// Draws next to nothing, or all there is.
    private struct Constant: RandomNumberGenerator, Sendable {
        let draw: UInt64
        mutating func next() -> UInt64 { draw }
    }

    @Test(
        arguments: [
            (1 << 30, [15_000, 30_000, 60_000, 120_000, 150_000, 150_000]),
            (UInt64.max, [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]),
        ] as [(UInt64, [Int64])])
    func `half of an ejection is certain, and it ends to the moment`(
        draw: UInt64, milliseconds: [Int64]
    ) {
        resolver.adopt(clock.timekeeper, random: RandomSource(Constant(draw: draw)))
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for ejection in milliseconds {
            report("10.0.0.1", .nothingWritten)
            clock.advance(by: ms(ejection) - .nanoseconds(1))
            #expect(choose() == .name)
            clock.advance(by: .nanoseconds(draw == .max ? 1 : 20))
            #expect(choose() == .address("10.0.0.1"))
        }
    }

    @Test func `one probe at a time, the others go elsewhere meanwhile`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .nothingWritten)
        clock.advance(by: .seconds(31))
        #expect(resolver.address(forHost: "a.test") == "10.0.0.1")  // looking is no probe
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose() == .name)
        report("10.0.0.1", .neutral)
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .serverTrouble)
        #expect(choose() == .name)
        clock.advance(by: .seconds(61))
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .success)
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `a probe that is never reported is forgotten after a minute`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .nothingWritten)
        clock.advance(by: .seconds(31))
        #expect(choose() == .address("10.0.0.1"))
        clock.advance(by: .milliseconds(59_999))
        #expect(choose() == .name)
        clock.advance(by: .milliseconds(1))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `when all are left out, the one that is due first is tried`() {
        resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
        report("10.0.0.2", .nothingWritten)
        clock.advance(by: .seconds(31))
        report("10.0.0.1", .nothingWritten)
        report("10.0.0.2", .nothingWritten)  // for the second time: 30 to 60 s
        report("a.test", .nothingWritten)
        clock.advance(by: .seconds(1))
        let first = choose()
        #expect(first == .address("10.0.0.1") || first == .name)
        #expect(choose(excluding: ["10.0.0.1", "a.test"]) == .address("10.0.0.2"))
        #expect(choose(excluding: ["10.0.0.1", "10.0.0.2", "a.test"]) == nil)
    }

    @Test func `those who were under way when an address failed do not prolong its absence`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<50 { report("10.0.0.1", .nothingWritten) }
        clock.advance(by: .seconds(31))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `an address marked from outside stays out while it is marked again`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        resolver.setAddresses(["10.0.0.1"], forHost: "b.test")
        resolver.markAddressAsUnreachable("10.0.0.9")
        #expect(resolver.unhealthyCount == 0)
        for _ in 0..<20 {
            resolver.markAddressAsUnreachable("10.0.0.1")
            clock.advance(by: .seconds(10))
            #expect(choose() == .name)
            #expect(resolver.choose(forHost: "b.test") == .name)
        }
        clock.advance(by: .seconds(30))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `health is kept while any host lists the address, and no longer`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .nothingWritten)
        resolver.setAddresses(["10.0.0.2", "10.0.0.1"], forHost: "a.test")
        #expect(resolver.unhealthyCount == 1)
        resolver.setAddresses(["10.0.0.1"], forHost: "b.test")
        resolver.setAddresses([], forHost: "a.test")
        #expect(resolver.choose(forHost: "b.test") == .name)
        resolver.setAddresses([], forHost: "b.test")
        #expect(resolver.unhealthyCount == 0)
    }

    @Test func `a service's clock takes over what was set before`() {
        let resolver = HostResolver()
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        resolver.markAddressAsUnreachable("10.0.0.1")
        clock.advance(by: .seconds(9_999))
        resolver.adopt(clock.timekeeper, random: .system)
        #expect(resolver.choose(forHost: "a.test") == .name)
        clock.advance(by: .seconds(31))
        #expect(resolver.choose(forHost: "a.test") == .address("10.0.0.1"))
    }

    @Test func `a failure tells of the address only when it is the address's`() {
        func outcome(
            _ error: DataLoaderError, _ sent: SentState = .nothingWritten, reused: Bool = false
        ) -> AddressOutcome {
            var report = TransportReport()
            report.reusedConnection = reused
            return AddressOutcome(TransportFailure(error, sent: sent, report: report))
        }
        for error in [.dns, .connectRefused, .connectTimeout, .tls, .pin] as [DataLoaderError] {
            #expect(outcome(error) == .nothingWritten)
        }
        #expect(outcome(.certificate(reason: "")) == .nothingWritten)
        #expect(outcome(.connectionReset) == .nothingWritten)
        #expect(outcome(.connectionReset, reused: true) == .neutral)
        #expect(outcome(.connectionReset, .written) == .neutral)
        #expect(outcome(.idleTimeout, .written) == .serverTrouble)
        #expect(outcome(.resources(reason: "")) == .neutral)
        #expect(outcome(.cancelled) == .neutral)
        #expect(outcome(.http2(reason: "REFUSED_STREAM")) == .neutral)
        for status in [502, 503, 504] {
            #expect(AddressOutcome(HTTPStatus(rawValue: status)) == .serverTrouble)
        }
        for status in [200, 304, 404, 429, 500] {
            #expect(AddressOutcome(HTTPStatus(rawValue: status)) == .success)
        }
    }
}
