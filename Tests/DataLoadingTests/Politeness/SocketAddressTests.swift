// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Testing

// Addresses of hosts that are Unix-domain sockets, and hosts that DNS must not be asked for.
@Suite struct SocketAddressTests {
    private let resolver = HostResolver()
    private static let longest =
        "unix:/" + String(repeating: "a", count: UnixSocketAddress.maxPathLength - 1)

    @Test(arguments: ["unix:/run/a.sock", "unix:/Run/A b?#.sock", "unix:/ä", longest])
    func `the resolver takes the path of a socket as it is`(address: String) throws {
        resolver.setAddresses([address, address], forHost: "a.test")
        try resolver.validate()
        #expect(resolver.address(forHost: "a.test") == address)
        resolver.markAddressAsUnreachable(address)
        #expect(resolver.address(forHost: "a.test") == "a.test")
    }

    @Test(arguments: [
        "unix:", "unix:/", "unix:run/a.sock", "unix://run/a\0.sock", "unix:a", "UNIX:/run/a.sock",
        "unix-abstract:a", "/run/a.sock", longest + "a",
    ])
    func `a path that no socket can have is a malformed address`(address: String) {
        resolver.setAddresses([address], forHost: "a.test")
        #expect(throws: DataLoaderError.malformedAddress) { try resolver.validate() }
        #expect(resolver.malformedSetting(forHost: "a.test") == .malformedAddress)
        #expect(resolver.address(forHost: "a.test") == "a.test")
    }

    @Test func `a host named unix still has ports, and a socket is no host`() throws {
        resolver.setAddresses(["unix:8443"], forHost: "unix")
        try resolver.validate()
        #expect(resolver.address(forHost: "unix") == "unix:8443")
        resolver.setAddresses(["10.0.0.1"], forHost: "unix:/run/a.sock")
        #expect(throws: DataLoaderError.malformedAddressedHost) { try resolver.validate() }
    }

    @Test func `a load of a host without DNS ends after its addresses`() {
        let bed = TestBed(otherwise: .fail(.connectRefused)) { configuration in
            configuration.resolver.setAddresses(
                ["unix:/run/a.sock", "unix:/run/b.sock"], forHost: "origin.test",
                fallsBackToDNS: false)
            configuration.retry.maximumRetryCount = 1
        }
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        #expect(bed.error == .connectRefused)
        let addresses = bed.transport.attempts.map(\.request.address)
        #expect(addresses.count == 4)
        #expect(!addresses.contains(nil))
        #expect(Set(addresses) == ["unix:/run/a.sock", "unix:/run/b.sock"])
        bed.expectNothingLeft()
    }

    @Test func `addresses that change during a load lead to the new ones and never to DNS`() async {
        let bed = TestBed { configuration in
            configuration.resolver.setAddresses(
                ["unix:/run/a.sock"], forHost: "origin.test", fallsBackToDNS: false)
        }
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        let first = await bed.attempt(0)
        bed.service.resolver.setAddresses(
            ["unix:/run/b.sock"], forHost: "origin.test", fallsBackToDNS: false)
        first.fail(.connectRefused)
        let second = await bed.attempt(1)
        #expect(second.request.address == "unix:/run/b.sock")
        second.respond(status: 200)
        #expect(bed.error == nil)
        bed.expectNothingLeft()
    }

    @Test func `an empty list leaves a host to DNS, with and without the fallback`() {
        resolver.setAddresses(["unix:/run/a.sock"], forHost: "a.test", fallsBackToDNS: false)
        resolver.setAddresses([], forHost: "a.test", fallsBackToDNS: false)
        #expect(resolver.address(forHost: "a.test") == "a.test")
        #expect(resolver.choose(forHost: "a.test") == .name)
    }
}
