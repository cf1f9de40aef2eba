// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A credential in the clear goes to this machine and to no other: RFC 8252 section 8.3.
        @Suite struct SecurityTestsPlainLoopback {
            /// A name and an address that are this machine's, but not its loopback interface.
            private static let elsewhere = ["0.0.0.0"]

            private func load(
                _ host: String, _ server: LoopbackServer, lookup: [String]? = nil,
                address: String? = nil
            ) async -> String {
                var configuration = DataLoaderService.Configuration()
                if let lookup {
                    configuration.transport = CurlTransport(lookup: { _ in .addresses(lookup) })
                }
                if let address {
                    configuration.resolver.setAddresses(
                        ["\(address):\(server.port)"], forHost: host)
                }
                let service = DataLoaderService(configuration: configuration)
                let authoriser = StaticTokenAuthoriser(
                    token: "canary", hosts: [host, "\(host):\(server.port)"],
                    allowsPlainLoopback: true)
                let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
                let url = testURL("http://\(host):\(server.port)/")
                let end: String
                do {
                    _ = try await loader.response(for: DataLoaderRequest(url: url))
                    end = "success"
                } catch {
                    end = (error as? DataLoaderError)?.kind ?? "\(error)"
                }
                await service.shutDown(gracePeriod: .zero)
                return end
            }

            @Test func `a name that leads elsewhere gets no credential in the clear`() async throws
            {
                let server = try LoopbackServer { _ in .ok("fine") }
                defer { server.stop() }
                for address in Self.elsewhere {
                    #expect(
                        await load("localhost", server, lookup: [address])
                            == "cannot_authenticate")
                    #expect(
                        await load("localhost", server, address: address)
                            == "cannot_authenticate")
                }
                #expect(server.connectionCount == 0)
                #expect(await load("localhost", server, lookup: ["127.0.0.1"]) == "success")
                #expect(await load("localhost", server, address: "127.0.0.1") == "success")
                #expect(await load("127.0.0.1", server) == "success")
                #expect(
                    server.requests.map { $0.headers["Authorization"] }
                        == Array(
                            repeating: "Bearer canary", count: 3))
            }
        }
    }
#endif
