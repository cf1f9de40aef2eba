// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A credential over plain HTTP is sent to this machine only (RFC 8252 section 8.3).
        @Suite struct SecurityTestsPlainLoopback {
            /// An address of this machine that is not on its loopback interface.
            private static let elsewhere = ["0.0.0.0"]

            private func load(
                _ host: String, _ server: LoopbackServer, lookup: [String]? = nil,
                address: String? = nil
            ) async -> String {
                let service = service(host, server, lookup: lookup, address: address)
                let authoriser = StaticTokenAuthoriser(
                    token: "canary", hosts: [host, "\(host):\(server.port)"],
                    allowsPlainLoopback: true)
                return await load(host, server, service, authoriser)
            }

            /// Loads from this machine with a token that localhost issues.
            private func loadWithToken(
                _ server: LoopbackServer, lookup: [String]? = nil, address: String? = nil
            ) async -> String {
                let service = service("localhost", server, lookup: lookup, address: address)
                let endpoints = OAuthEndpoints(
                    token: testURL("http://localhost:\(server.port)/token"))
                var configuration = OAuthConfiguration(
                    server: .endpoints(endpoints), flow: .clientCredentials,
                    clientIdentifier: "client", hosts: ["127.0.0.1:*"])
                configuration.clientAuthentication = .basic(secret: "canary")
                configuration.allowsPlainLoopback = true
                let authoriser = OAuthAuthoriser(
                    configuration, service: service, store: MemoryCredentialStore())
                return await load("127.0.0.1", server, service, authoriser)
            }

            /// A service that resolves a name to certain addresses.
            private func service(
                _ host: String, _ server: LoopbackServer, lookup: [String]?, address: String?
            ) -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                if let lookup {
                    configuration.transport = CurlTransport(lookup: { _ in .addresses(lookup) })
                }
                if let address {
                    configuration.resolver.setAddresses(
                        ["\(address):\(server.port)"], forHost: host)
                }
                return DataLoaderService(configuration: configuration)
            }

            private func load(
                _ host: String, _ server: LoopbackServer, _ service: DataLoaderService,
                _ authoriser: any Authoriser
            ) async -> String {
                let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
                let url = testURL("http://\(host):\(server.port)/")
                let error = await loader.failure(of: DataLoaderRequest(url: url))
                await service.shutDown(gracePeriod: .zero)
                return error?.name ?? "success"
            }

            @Test func `a local name that resolves elsewhere gets no credential over plain HTTP`()
                async throws
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

            @Test func `a token server's local name that resolves elsewhere gets no credential`()
                async throws
            {
                let token = #"{"access_token":"token","token_type":"Bearer"}"#
                let server = try LoopbackServer { .ok($0.path == "/token" ? "\(token)" : "fine") }
                defer { server.stop() }
                for address in Self.elsewhere {
                    #expect(
                        await loadWithToken(server, lookup: [address]) == "cannot_authenticate")
                    #expect(
                        await loadWithToken(server, address: address) == "cannot_authenticate")
                }
                #expect(server.connectionCount == 0)
                #expect(await loadWithToken(server, lookup: ["127.0.0.1"]) == "success")
                #expect(await loadWithToken(server, address: "127.0.0.1") == "success")
                #expect(
                    server.requests.map { "\($0.path) \($0.headers["Authorization"] ?? "-")" }
                        == [
                            "/token Basic Y2xpZW50OmNhbmFyeQ==", "/ Bearer token",
                            "/token Basic Y2xpZW50OmNhbmFyeQ==", "/ Bearer token",
                        ])
            }
        }
    }
#endif
