// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

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

    @Test func `a host without addresses is resolved by its name`() {
        #expect(choose() == .name)
        #expect(choose(excluding: ["a.test"]) == nil)
        #expect(resolver.address(forHost: "A.test") == "A.test")
        report("a.test", .unreachable, .unreachable)
        #expect(choose() == .name)
        #expect(resolver.unhealthyCount == 0)
    }

    @Test func `the resolver tries addresses in order and the DNS name last`() {
        resolver.setAddresses(["10.0.0.1", "b.test:8443"], forHost: "A.TEST")
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose(excluding: ["10.0.0.1"]) == .address("b.test:8443"))
        #expect(choose(excluding: ["10.0.0.1", "b.test:8443"]) == .name)
        #expect(choose(excluding: ["10.0.0.1", "b.test:8443", "a.test"]) == nil)
        #expect(resolver.choose(forHost: "other.test") == .name)
        #expect(resolver.address(forHost: "a.test") == "10.0.0.1")
    }

    @Test func `the resolver keeps the position of a host's own name in its list`() {
        resolver.setAddresses(["a.test", "10.0.0.1", "10.0.0.1"], forHost: "a.test")
        #expect(choose() == .name)
        #expect(choose(excluding: ["a.test"]) == .address("10.0.0.1"))
        #expect(choose(excluding: ["a.test", "10.0.0.1"]) == nil)
    }

    @Test(arguments: [
        "host", "host.test:8443", "10.0.0.1", "10.0.0.1:1", "[::1]", "[2001:DB8::1]:65535", "x_y",
    ])
    func `the resolver accepts names, IPv4 and bracketed IPv6 addresses with ports`(address: String)
    {
        resolver.setAddresses([address], forHost: "a.test")
        #expect(resolver.address(forHost: "a.test") == address.lowercased())
    }

    @Test(arguments: [
        "", " ", "a b", "http://x", "x/y", "x?y", "x#y", "u@x", "::1", "[::1", "x:0", "x:65536",
        "x:", "x:-1", "[::1]x", "x:1:2", "x\r\ny", "ä.test", "%61.test",
    ])
    func `the resolver refuses a list with a malformed address and reports it`(address: String)
        throws
    {
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

    @Test func `the resolver ejects an address at once after a failed connection`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .unreachable)
        #expect(choose() == .name)
        clock.advance(by: .milliseconds(14_999))
        #expect(choose() == .name)
        clock.advance(by: .seconds(16))
        #expect(choose() == .address("10.0.0.1"))
    }

    // A server that takes no new connections still ends the transfers that it has.
    @Test(arguments: [AddressOutcome.success, .neutral])
    func `an attempt that began before an ejection does not end it`(outcome: AddressOutcome) {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        let old = clock.instant
        clock.advance(by: .seconds(1))
        func reportOld() {
            resolver.report(
                .address("10.0.0.1"), forHost: "a.test", outcome: outcome, begun: old)
        }
        report("10.0.0.1", .unreachable)
        reportOld()
        #expect(choose() == .name)
        clock.advance(by: .seconds(31))
        #expect(choose() == .address("10.0.0.1"))
        // One load at a time probes.
        reportOld()
        #expect(choose() == .name)
        resolver.report(
            .address("10.0.0.1"), forHost: "a.test", outcome: .success, begun: clock.instant)
        #expect(choose() == .address("10.0.0.1"))
        #expect(resolver.unhealthyCount == 0)
    }

    @Test func `the resolver ejects an address after five server errors in a row`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<2 {
            for _ in 0..<4 {
                report("10.0.0.1", .unavailable)
                #expect(choose() == .address("10.0.0.1"))
            }
            report("10.0.0.1", .success)
        }
        report("10.0.0.1", .unavailable, .neutral, .unavailable, .unavailable, .neutral)
        report("10.0.0.1", .unavailable)
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .unavailable)
        #expect(choose() == .name)
    }

    @Test func `ejections double up to 300 s, half of it random, until a success`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<2 {
            for seconds in [30, 60, 120, 240, 300, 300, 300] as [Int64] {
                report("10.0.0.1", .unreachable)
                let begun = clock.elapsed
                while choose() == .name { clock.advance(by: .milliseconds(100)) }
                let ejected = clock.elapsed - begun
                #expect(ejected >= .milliseconds(500 * seconds))
                #expect(ejected <= .milliseconds(1_000 * seconds + 100))
            }
            report("10.0.0.1", .success)
            #expect(resolver.unhealthyCount == 0)
        }
    }

    @Test func `ejections use the configured times and are never negative or endless`() {
        let resolver = HostResolver(
            firstEjection: .milliseconds(400), maxEjection: .seconds(1))
        resolver.adopt(clock.timekeeper, random: RandomSource(SeededGenerator(seed: 7)))
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for milliseconds in [400, 800, 1_000, 1_000] as [Int64] {
            resolver.report(.address("10.0.0.1"), forHost: "a.test", outcome: .unreachable)
            clock.advance(by: .milliseconds(milliseconds / 2 - 1))
            #expect(resolver.choose(forHost: "a.test") == .name)
            clock.advance(by: .milliseconds(milliseconds / 2 + 1))
            #expect(resolver.choose(forHost: "a.test") == .address("10.0.0.1"))
        }
        for limit in [Duration.seconds(-1), .zero, .seconds(Int64.max)] {
            let resolver = HostResolver(firstEjection: limit, maxEjection: limit)
            resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
            for _ in 0..<40 { resolver.markAddressAsUnreachable("10.0.0.1") }
            #expect(resolver.unhealthyCount == 1)
        }
    }

    /// A generator that always returns the same number.
    private struct Constant: RandomNumberGenerator, Sendable {
        let draw: UInt64
        mutating func next() -> UInt64 { draw }
    }

    @Test(
        arguments: [
            (1 << 30, [15_000, 30_000, 60_000, 120_000, 150_000, 150_000]),
            (UInt64.max, [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]),
        ] as [(UInt64, [Int64])])
    func `at least half of an ejection is certain, and it ends exactly on time`(
        draw: UInt64, milliseconds: [Int64]
    ) {
        resolver.adopt(clock.timekeeper, random: RandomSource(Constant(draw: draw)))
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for ejection in milliseconds {
            report("10.0.0.1", .unreachable)
            clock.advance(by: ms(ejection) - .nanoseconds(1))
            #expect(choose() == .name)
            clock.advance(by: .nanoseconds(draw == .max ? 1 : 20))
            #expect(choose() == .address("10.0.0.1"))
        }
    }

    @Test func `one load probes an ejected address while others use the next address`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .unreachable)
        clock.advance(by: .seconds(31))
        #expect(resolver.address(forHost: "a.test") == "10.0.0.1")  // looking is no probe
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose() == .name)
        report("10.0.0.1", .neutral)
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .unavailable)
        #expect(choose() == .name)
        clock.advance(by: .seconds(61))
        #expect(choose() == .address("10.0.0.1"))
        report("10.0.0.1", .success)
        #expect(choose() == .address("10.0.0.1"))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `a probe that is never reported is forgotten after a minute`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .unreachable)
        clock.advance(by: .seconds(31))
        #expect(choose() == .address("10.0.0.1"))
        clock.advance(by: .milliseconds(59_999))
        #expect(choose() == .name)
        clock.advance(by: .milliseconds(1))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `the address whose ejection ends first is tried when all are ejected`() {
        resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
        report("10.0.0.2", .unreachable)
        clock.advance(by: .seconds(31))
        report("10.0.0.1", .unreachable)
        report("10.0.0.2", .unreachable)  // for the second time: 30 to 60 s
        report("a.test", .unreachable)
        clock.advance(by: .seconds(1))
        let first = choose()
        #expect(first == .address("10.0.0.1") || first == .name)
        #expect(choose(excluding: ["10.0.0.1", "a.test"]) == .address("10.0.0.2"))
        #expect(choose(excluding: ["10.0.0.1", "10.0.0.2", "a.test"]) == nil)
    }

    @Test func `loads that fail after an ejection do not prolong it`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        for _ in 0..<50 { report("10.0.0.1", .unreachable) }
        clock.advance(by: .seconds(31))
        #expect(choose() == .address("10.0.0.1"))
    }

    @Test func `an address that is marked unreachable stays ejected while it is marked again`() {
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

    @Test func `address health is kept as long as any host lists the address`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        report("10.0.0.1", .unreachable)
        resolver.setAddresses(["10.0.0.2", "10.0.0.1"], forHost: "a.test")
        #expect(resolver.unhealthyCount == 1)
        resolver.setAddresses(["10.0.0.1"], forHost: "b.test")
        resolver.setAddresses([], forHost: "a.test")
        #expect(resolver.choose(forHost: "b.test") == .name)
        resolver.setAddresses([], forHost: "b.test")
        #expect(resolver.unhealthyCount == 0)
    }

    @Test func `the resolver keeps its ejections when a service's clock replaces its own`() {
        let resolver = HostResolver()
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        resolver.markAddressAsUnreachable("10.0.0.1")
        clock.advance(by: .seconds(9_999))
        resolver.adopt(clock.timekeeper, random: .system)
        #expect(resolver.choose(forHost: "a.test") == .name)
        clock.advance(by: .seconds(31))
        #expect(resolver.choose(forHost: "a.test") == .address("10.0.0.1"))
    }
}
