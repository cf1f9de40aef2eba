// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoadingCurl
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SecurityTests {
    // Server-side request forgery by a redirect or by DNS.
    @Suite struct PrivateAddressTests {
        private static func bytes(_ text: String) -> [UInt8] {
            CurlTransfer.addressBytes(text)
        }

        @Test(arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0",
            "100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.0",
            "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.0.0", "192.168.255.255",
            "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
            "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1", "64:ff9b::7f00:1",
            "64:ff9b:1::1", "2002:7f00:1::1", "2002:a9fe:a9fe::", "2001::1", "2001:db8::1",
            "2001:2::1", "2001:10::1", "3fff::1", "100::1", "fc00::1", "fdff::1", "fe80::1",
            "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "4000::1", "",
            "no address", "1.2.3",
        ])
        func `special-purpose addresses count as private`(address: String) {
            #expect(SpecialAddress.contains(Self.bytes(address)))
        }

        @Test(arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
            "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
            "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
            "2001:200::1", "2606:4700::1111", "2a00::1", "3ffe::1",
        ])
        func `global addresses count as public`(address: String) {
            #expect(!SpecialAddress.contains(Self.bytes(address)))
        }

        @Test func `a refused private address is not retried and no other address is tried`() async
        {
            let bed = TestBed(otherwise: .fail(.privateAddress)) { configuration in
                configuration.refusesPrivateAddresses = true
                configuration.retry.maximumRetryCount = 3
                configuration.resolver.setAddresses(["a.test", "b.test"], forHost: "origin.test")
            }
            bed.loader.perform(.make())
            _ = await bed.outcome()
            #expect(bed.error == .privateAddress)
            #expect(bed.transport.attempts.map(\.request.refusesPrivateAddresses) == [true])
            bed.expectNothingLeft()
        }
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SocketTests {
        @Suite struct SecurityTestsPrivatePeers {
            // Every spelling of this host in a URL.
            @Test(arguments: [
                "127.0.0.1", "127.1", "0.0.0.0", "0", "0x7f.1", "0x7f000001", "2130706433",
                "0177.1",
                "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "name.test", "mixed.test",
            ])
            func `a private peer is refused before a byte is sent, whatever names it`(host: String)
                async throws
            {
                let transport = CurlTransport(lookup: { name in
                    switch name {
                    case "mixed.test": .addresses(["[::1]", "[::ffff:127.0.0.1]", "127.0.0.1"])
                    default: .addresses(["127.0.0.1"])
                    }
                })
                let server = try LoopbackServer { _ in .ok("secret") }
                let url = testURL("http://\(host):\(server.port)/")
                var request = TransportRequest(url: url)
                request.refusesPrivateAddresses = true
                let record = await transport.run(request)
                #expect(record.error == .privateAddress)
                #expect(record.failure?.sent == .nothingWritten)
                #expect(server.connectionCount == 0)
                await transport.shutDown()
            }

            @Test func `a private fallback address is refused`() async throws {
                let server = try LoopbackServer { _ in .ok("secret") }
                var configuration = DataLoaderService.Configuration()
                configuration.refusesPrivateAddresses = true
                configuration.resolver.setAddresses(
                    ["127.0.0.1:\(server.port)"], forHost: "origin.test")
                let service = DataLoaderService(configuration: configuration)
                let loader = service.makeFactory().makeDataLoader()
                await #expect(throws: DataLoaderError.privateAddress) {
                    try await loader.response(for: .make())
                }
                #expect(server.connectionCount == 0)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a private peer is refused on a connection that another attempt opened`()
                async throws
            {
                let transport = CurlTransport()
                let server = try LoopbackServer { _ in .ok("open") }
                #expect(await transport.get(server.url()).text == "open")
                var request = TransportRequest(url: server.url("/second"))
                request.refusesPrivateAddresses = true
                let record = await transport.run(request)
                #expect(record.error == .privateAddress)
                #expect(record.failure?.sent == .nothingWritten)
                #expect(await transport.get(server.url("/third")).text == "open")
                #expect(server.requests.map(\.target) == ["/", "/third"])
                await transport.shutDown()
            }
        }
    }
#endif
