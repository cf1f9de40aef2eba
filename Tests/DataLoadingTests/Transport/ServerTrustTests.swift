// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Pins and client certificates by host pattern, against a server of the tests' own.
        @Suite(.enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"))
        struct ServerTrustTests {
            private let authority: TestCertificate
            private let client: TestCertificate
            private let server: TestCertificate
            private let other = Data(repeating: 7, count: 32).base64EncodedString()

            init() throws {
                authority = try TestCertificate("An authority", isAuthority: true)
                client = try TestCertificate("client.test", issuer: authority)
                server = try TestCertificate("*.origin.test", issuer: authority)
            }

            // CP-01
            @Test func `pins one label under a wildcard, and an exact name wins`() async throws {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try policy()
                policy.pinnedPublicKeys = [
                    "*.origin.test": [other], "b.origin.test": [other, server.pin],
                    "empty.origin.test": [],
                ]
                #expect(try await kind("a.origin.test", peer, policy) == "pin")
                #expect(try await kind("empty.origin.test", peer, policy) == "pin")
                #expect(try await kind("a.origin.test.", peer, policy) == "pin")
                #expect(peer.requestCount == 0)
                #expect(try await kind("b.origin.test", peer, policy) == "success")
            }

            // CP-01
            @Test func `makes a connection of its own for each name of a certificate`()
                async throws
            {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try policy()
                policy.pinnedPublicKeys = ["b.origin.test": [other]]
                let service = service(policy, peer)
                #expect(try await kind("a.origin.test", peer, service) == "success")
                #expect(try await kind("b.origin.test", peer, service) == "pin")
                #expect(try await kind("a.origin.test", peer, service) == "success")
                #expect(peer.connectionCount == 2)
                #expect(peer.requestCount == 2)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `shows a listed host its identity`() async throws {
                let peer = try peer(clientsOf: authority)
                defer { peer.stop() }
                for passphrase in [nil, "open sesame"] {
                    let identity = ClientIdentity(
                        certificateChain: try client.pem,
                        privateKey: try client.keyPEM(passphrase: passphrase),
                        passphrase: passphrase)
                    var policy = try policy()
                    policy.clientIdentities = ["a.origin.test": identity]
                    #expect(try await kind("a.origin.test", peer, policy) == "success")
                    // Not listed and so shown none. The alert of TLS 1.2 says only that the handshake
                    // failed, so the next address is tried: that of the name, which has none.
                    #expect(try await kind("b.origin.test", peer, policy) == "dns")
                }
                #expect(peer.requestCount == 2)
            }

            @Test func `sends nothing with an identity that is wrong or cannot be read`()
                async throws
            {
                let peer = try peer(clientsOf: authority)
                defer { peer.stop() }
                let stranger = try TestCertificate("client.test")
                let locked = try client.keyPEM(passphrase: "open sesame")
                for (chain, key) in [
                    (try stranger.pem, try stranger.keyPEM()),
                    (try client.pem, try stranger.keyPEM()), (try client.pem, locked),
                ] {
                    var policy = try policy()
                    policy.clientIdentities["*.origin.test"] = ClientIdentity(
                        certificateChain: chain, privateKey: key)
                    #expect(try await kind("a.origin.test", peer, policy) == "certificate")
                }
                #expect(peer.requestCount == 0)
            }

            // CP-02
            @Test(arguments: ["A.test", "*.test", "*", "a.*.test", "https://a.test", "a.test:443"])
            func `sends nothing under a malformed pattern`(pattern: String) async throws {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try policy()
                try policy.validate()
                policy.pinnedPublicKeys = [pattern: [other]]
                #expect(throws: DataLoaderError.self) { try policy.validate() }
                #expect(try await kind("a.origin.test", peer, policy) == "certificate")
                #expect(peer.connectionCount == 0)
            }

            @Test func `takes no pin, certificate or key that is none`() throws {
                let identity = ClientIdentity(certificateChain: Data(), privateKey: Data())
                for make in [
                    { $0.pinnedPublicKeys = ["a.test": ["current"]] },
                    { $0.certificateAuthorities = Data() },
                    { $0.hostCertificateAuthorities = ["a.test": Data("x".utf8)] },
                    { $0.clientIdentities = ["a.test": identity] },
                ] as [(inout ServerTrustPolicy) -> Void] {
                    var policy = ServerTrustPolicy()
                    make(&policy)
                    #expect(throws: DataLoaderError.self) { try policy.validate() }
                }
                #expect("\(identity)" == "client identity")
                #expect(Mirror(reflecting: identity).children.isEmpty)
            }

            private func policy() throws -> ServerTrustPolicy {
                ServerTrustPolicy(certificateAuthorities: try authority.pem)
            }

            private func peer(clientsOf wanted: TestCertificate? = nil) throws -> LoopbackServer {
                let identity = try TestIdentity(server, authority: try authority.pem)
                if let wanted { try identity.requireClients(of: wanted, isOld: true) }
                return try LoopbackServer(
                    script: .serve(LoopbackHandler { _ in .ok("fine") }),
                    cipher: LoopbackTLS.cipher(identity))
            }

            private func service(
                _ policy: ServerTrustPolicy, _ peer: LoopbackServer
            ) -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                configuration.serverTrustPolicy = policy
                let service = DataLoaderService(configuration: configuration)
                for host in ["a", "b", "empty"].map({ $0 + ".origin.test" }) + ["a.origin.test."] {
                    service.resolver.setAddresses(["127.0.0.1:\(peer.port)"], forHost: host)
                }
                return service
            }

            private func kind(
                _ host: String, _ peer: LoopbackServer, _ policy: ServerTrustPolicy
            ) async throws -> String {
                let service = service(policy, peer)
                let kind = try await kind(host, peer, service)
                await service.shutDown(gracePeriod: .zero)
                return kind
            }

            private func kind(
                _ host: String, _ peer: LoopbackServer, _ service: DataLoaderService
            ) async throws -> String {
                let request = DataLoaderRequest(url: testURL("https://\(host):\(peer.port)/"))
                do {
                    let loader = service.makeFactory().makeDataLoader()
                    _ = try await loader.response(for: request)
                    return "success"
                } catch let error as DataLoaderError {
                    return error.kind
                }
            }
        }
    }
#endif
