// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct AddressReplacementTests {
    private let clock = ManualClock()
    private let resolver = HostResolver()

    init() {
        resolver.adopt(clock.timekeeper, random: RandomSource(SeededGenerator(seed: 7)))
    }

    @Test func `hosts that are not named are left to DNS, and malformed settings are gone`() throws
    {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        resolver.setAddresses(["x/y"], forHost: "b.test")
        #expect(throws: DataLoaderError.malformedAddress) { try resolver.validate() }
        try resolver.replaceAddresses(
            ["C.test": ["10.0.0.3"], "d.test": ["unix:/run/d"]], hostsWithoutDNS: ["d.test"])
        try resolver.validate()
        #expect(resolver.choose(forHost: "a.test") == .name)
        #expect(resolver.choose(forHost: "c.test") == .address("10.0.0.3"))
        #expect(resolver.choose(forHost: "c.test", excluding: ["10.0.0.3"]) == .name)
        #expect(resolver.choose(forHost: "d.test", excluding: ["unix:/run/d"]) == nil)
    }

    @Test func `with one malformed address nothing changes`() {
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        #expect(throws: DataLoaderError.malformedAddress) {
            try resolver.replaceAddresses(["a.test": ["10.0.0.9"], "b.test": ["x/y"]])
        }
        #expect(throws: DataLoaderError.malformedAddressedHost) {
            try resolver.replaceAddresses(["a.test": ["10.0.0.9"], "b.test:80": ["10.0.0.2"]])
        }
        #expect(resolver.choose(forHost: "a.test") == .address("10.0.0.1"))
    }

    @Test func `a host is known by any spelling, and has one list of addresses`() throws {
        try resolver.replaceAddresses(
            ["Sibling": ["unix:/run/s.sock"], "127.1": ["unix:/run/t.sock"]],
            hostsWithoutDNS: ["sibling", "127.0.0.1"])
        #expect(resolver.choose(forHost: "sibling", excluding: ["unix:/run/s.sock"]) == nil)
        #expect(resolver.choose(forHost: "127.0.0.1", excluding: ["unix:/run/t.sock"]) == nil)
        #expect(throws: DataLoaderError.malformedAddressedHost) {
            try resolver.replaceAddresses(["a.test": ["10.0.0.1"], "A.test": ["10.0.0.2"]])
        }
        #expect(throws: DataLoaderError.malformedAddressedHost) {
            try resolver.replaceAddresses(["a.test": ["10.0.0.1"]], hostsWithoutDNS: ["b.test"])
        }
    }

    @Test func `an address keeps its health when it moves to another host`() throws {
        for _ in 0..<20 {
            resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
            resolver.markAddressAsUnreachable("10.0.0.1")
            resolver.markAddressAsUnreachable("10.0.0.2")
            try resolver.replaceAddresses(["b.test": ["10.0.0.1", "10.0.0.3"]])
            #expect(resolver.choose(forHost: "b.test") == .address("10.0.0.3"))
            #expect(resolver.unhealthyCount == 1)
            try resolver.replaceAddresses([:])
            #expect(resolver.unhealthyCount == 0)
        }
    }

    @Test func `the ejections of an address that comes back go on where they were`() throws {
        func ejections() -> [Int64] {
            resolver.addressStates.filter { $0.address == "10.0.0.1" }.map(\.ejections)
        }
        resolver.setAddresses(["10.0.0.1"], forHost: "a.test")
        resolver.markAddressAsUnreachable("10.0.0.1")
        #expect(ejections() == [1])
        try resolver.replaceAddresses([:])
        #expect(ejections().isEmpty)
        try resolver.replaceAddresses(["b.test": ["10.0.0.1"]])
        #expect(ejections() == [1])
        resolver.setAddresses([], forHost: "b.test")
        resolver.setAddresses(["10.0.0.1"], forHost: "b.test")
        resolver.markAddressAsUnreachable("10.0.0.1")
        #expect(ejections() == [2])
        for number in 0..<2_000 {
            resolver.setAddresses(["10.1.0.\(number)"], forHost: "c.test")
        }
        #expect(ejections() == [2])
    }

    @Test func `a malformed ejection stays a fault`() throws {
        let resolver = HostResolver(firstEjection: .zero)
        try resolver.replaceAddresses(["a.test": ["10.0.0.1"]])
        #expect(throws: DataLoaderError.malformedEjection) { try resolver.validate() }
    }
}
