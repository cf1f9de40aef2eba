// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingAuth
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Pins and client certificates by host pattern, against a server of the tests.
        @Suite(.enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"))
        struct ServerTrustTests {
            private let scene: TrustScene

            init() throws {
                scene = try TrustScene()
            }

            @Test func `a wildcard pin covers one label, and an exact name takes precedence`()
                async throws
            {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try scene.policy()
                policy.pinnedPublicKeys = [
                    "*.origin.test": [scene.other],
                    "b.origin.test": [scene.other, scene.server.pin],
                    "empty.origin.test": [],
                ]
                #expect(try await scene.kind("a.origin.test", peer, policy) == "pin")
                #expect(try await scene.kind("empty.origin.test", peer, policy) == "pin")
                #expect(try await scene.kind("a.origin.test.", peer, policy) == "pin")
                #expect(peer.requestCount == 0)
                #expect(try await scene.kind("b.origin.test", peer, policy) == "success")
            }

            @Test func `each name of a certificate gets a connection of its own`()
                async throws
            {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try scene.policy()
                policy.pinnedPublicKeys = ["b.origin.test": [scene.other]]
                let service = scene.service(policy, peer)
                #expect(try await scene.kind("a.origin.test", peer, service) == "success")
                #expect(try await scene.kind("b.origin.test", peer, service) == "pin")
                #expect(try await scene.kind("a.origin.test", peer, service) == "success")
                #expect(peer.connectionCount == 2)
                #expect(peer.requestCount == 2)
                await service.shutDown(gracePeriod: .zero)
            }

            // Each request has its own policy, whatever connection another request has opened.
            @Test func `a pin applies although a request without it has opened a connection`()
                async throws
            {
                let peer = try peer()
                defer { peer.stop() }
                let transport = CurlTransport()
                var attempt = TransportRequest(
                    url: testURL("https://a.origin.test:\(peer.port)/"))
                attempt.address = "127.0.0.1:\(peer.port)"
                for (pins, error) in [
                    (nil, nil), ([scene.other], DataLoaderError.pin), ([], .pin),
                    ([scene.other, scene.server.pin], nil), (nil, nil),
                ] as [([String]?, DataLoaderError?)] {
                    var policy = try scene.policy()
                    policy.pinnedPublicKeys = pins.map { ["a.origin.test": $0] } ?? [:]
                    attempt.serverTrustPolicy = policy
                    #expect(await transport.run(attempt).error == error)
                }
                #expect(peer.requestCount == 3)
                await transport.shutDown()
            }

            @Test func `a transport trusts the same authorities after loads over plain http`()
                async throws
            {
                let peer = try peer()
                defer { peer.stop() }
                let plain = try LoopbackServer { _ in .ok("plain") }
                let transport = CurlTransport()
                var attempt = TransportRequest(
                    url: testURL("https://a.origin.test:\(peer.port)/"))
                attempt.address = "127.0.0.1:\(peer.port)"
                for _ in 0..<2 {
                    #expect(await transport.get(plain.url()).text == "plain")
                    attempt.serverTrustPolicy = try scene.policy()
                    #expect(await transport.run(attempt).text == "fine")
                    #expect(await transport.get(plain.url()).text == "plain")
                    // The system does not know the authority.
                    attempt.serverTrustPolicy = nil
                    #expect(await transport.run(attempt).error?.name == "certificate")
                }
                #expect(peer.requestCount == 2)
                await transport.shutDown()
            }

            @Test(arguments: [
                ("OpenSSL/3.0.17", true), ("LibreSSL/3.8.2", true), ("BoringSSL", true),
                ("AWS-LC/1.30", true), ("quictls/3.1.4", true), ("OpenSSL/3.2 (Schannel)", true),
                ("(OpenSSL/3.0.2) GnuTLS/3.7.9", false), ("GnuTLS/3.7.9", false),
                ("NSS/3.87", false), ("wolfSSL/5.6", false), ("rustls-ffi/0.9", false),
                ("mbedTLS/2.28", false), ("", false),
            ])
            func `client identities are supported only with the family of OpenSSL`(
                library: String, isShown: Bool
            ) {
                #expect(CurlLibrary.isOpenSSL(library) == isShown)
            }

            @Test func `a listed host is shown its client identity`() async throws {
                let peer = try peer(clientsOf: scene.authority)
                defer { peer.stop() }
                for passphrase in [nil, "open sesame"] {
                    let identity = ClientIdentity(
                        certificateChain: try scene.client.pem,
                        privateKey: try scene.client.keyPEM(passphrase: passphrase),
                        passphrase: passphrase)
                    var policy = try scene.policy()
                    policy.clientIdentities = ["a.origin.test": identity]
                    #expect(try await scene.kind("a.origin.test", peer, policy) == "success")
                    // The host is not listed and shown no identity. The alert of TLS 1.2 says only
                    // that the handshake failed, so the next address is tried: that of the name,
                    // which has none.
                    #expect(try await scene.kind("b.origin.test", peer, policy) == "dns")
                }
                #expect(peer.requestCount == 2)
            }

            // libcurl with GnuTLS takes the bytes and shows nothing.
            @Test func `nothing is sent where the TLS library would not show the identity`()
                async throws
            {
                let peer = try peer(clientsOf: scene.authority)
                defer { peer.stop() }
                var policy = try scene.policy()
                policy.clientIdentities["a.origin.test"] = ClientIdentity(
                    certificateChain: try scene.client.pem, privateKey: try scene.client.keyPEM())
                var attempt = TransportRequest(url: testURL("https://a.origin.test:\(peer.port)/"))
                attempt.address = "127.0.0.1:\(peer.port)"
                attempt.serverTrustPolicy = policy
                let transport = CurlTransport(lacking: [.clientIdentities])
                let record = await transport.run(attempt)
                #expect(record.error?.name == "unsupported")
                #expect(record.failure?.sent == .nothingWritten)
                #expect(peer.connectionCount == 0)
            }

            @Test func `nothing is sent with an identity that is wrong or unreadable`()
                async throws
            {
                let peer = try peer(clientsOf: scene.authority)
                defer { peer.stop() }
                let stranger = try TestCertificate("client.test")
                let locked = try scene.client.keyPEM(passphrase: "open sesame")
                for (chain, key) in [
                    (try stranger.pem, try stranger.keyPEM()),
                    (try scene.client.pem, try stranger.keyPEM()), (try scene.client.pem, locked),
                ] {
                    var policy = try scene.policy()
                    policy.clientIdentities["*.origin.test"] = ClientIdentity(
                        certificateChain: chain, privateKey: key)
                    #expect(try await scene.kind("a.origin.test", peer, policy) == "certificate")
                }
                #expect(peer.requestCount == 0)
            }

            @Test(arguments: ["A.test", "*.test", "*", "a.*.test", "https://a.test", "a.test:443"])
            func `nothing is sent under a malformed host pattern`(pattern: String) async throws {
                let peer = try peer()
                defer { peer.stop() }
                var policy = try scene.policy()
                try policy.validate()
                policy.pinnedPublicKeys = [pattern: [scene.other]]
                #expect(throws: DataLoaderError.self) { try policy.validate() }
                #expect(try await scene.kind("a.origin.test", peer, policy) == "certificate")
                #expect(peer.connectionCount == 0)
            }

            @Test func `a malformed pin, certificate or key is refused`() throws {
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

            private func peer(clientsOf wanted: TestCertificate? = nil) throws -> LoopbackServer {
                let identity = try scene.identity()
                if let wanted { try identity.requireClients(of: wanted, isOld: true) }
                return try scene.peer(identity)
            }
        }
    }
#endif
