// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The addresses of hosts behind a proxy.
@Suite struct ProxyAddressTests {
    @Test func `addresses behind a proxy are not used, except sockets of this machine`()
        async throws
    {
        let bed = try TestBed.behindProxy { configuration in
            configuration.resolver.setAddresses(["10.0.0.1"], forHost: "origin.test")
            configuration.resolver.setAddresses(
                ["10.0.0.1", "unix:/run/a.sock"], forHost: "sibling", fallsBackToDNS: false)
            configuration.resolver.setAddresses(["10.0.0.1"], forHost: "direct.test")
        }
        for host in ["origin.test", "sibling", "direct.test"] {
            _ = try await bed.loader.response(for: .make(host: "http://" + host))
        }
        let requests = bed.transport.attempts.map(\.request)
        #expect(requests.map(\.address) == [nil, "unix:/run/a.sock", "10.0.0.1"])
        #expect(requests.map { $0.proxy == nil } == [false, true, true])
    }

    @Test func `a host of sockets only is never handed to the proxy`() async throws {
        let bed = try TestBed.behindProxy(otherwise: .fail(.connectRefused)) { configuration in
            configuration.resolver.setAddresses(
                ["unix:/run/a.sock"], forHost: "origin.test", fallsBackToDNS: false)
        }
        bed.loader.perform(.make())
        _ = await bed.outcome()
        #expect(bed.error == .connectRefused)
        #expect(bed.transport.attempts.map(\.request.address) == ["unix:/run/a.sock"])
    }

    @Test(arguments: [
        ScriptedAnswer.fail(.proxy(.connectRefused)), .fail(.tls), .fail(.connectionReset),
        .respond(status: 502),
    ])
    func `failures behind a proxy eject no address of the host`(answer: ScriptedAnswer)
        async throws
    {
        let bed = try TestBed.behindProxy(otherwise: answer) { configuration in
            configuration.resolver.setAddresses(["10.0.0.1"], forHost: "origin.test")
        }
        for _ in 0..<8 { _ = try? await bed.loader.response(for: .make()) }
        #expect(bed.transport.attempts.count == 8)
        #expect(bed.transport.attempts.allSatisfy { $0.request.proxy != nil })
        #expect(bed.service.resolver.unhealthyCount == 0)
    }
}
