// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // Which certificates are accepted for which names, and which servers see the client's.
        @Suite(.enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"))
        struct SecurityTestsTrust {
            private let scene: TrustScene

            init() throws {
                scene = try TrustScene()
            }

            // CVE-2016-2402: a server may send any certificates after its own.
            @Test func `a pin matches the server's own key and no other certificate it sends`()
                async throws
            {
                let pinned = try TestCertificate("*.origin.test", issuer: scene.authority)
                let identity = try scene.identity()
                try identity.append(pinned)
                try identity.append(scene.authority)
                let peer = try scene.peer(identity)
                defer { peer.stop() }
                var policy = try scene.policy()
                for stranger in [pinned, scene.authority] {
                    policy.pinnedPublicKeys = ["a.origin.test": [stranger.pin]]
                    #expect(try await scene.kind("a.origin.test", peer, policy) == "pin")
                }
                #expect(peer.requestCount == 0)
                policy.pinnedPublicKeys = ["a.origin.test": [pinned.pin, scene.server.pin]]
                #expect(try await scene.kind("a.origin.test", peer, policy) == "success")
            }

            @Test func `a matching pin replaces neither the authority nor the host name`()
                async throws
            {
                for certificate in [
                    try TestCertificate("*.origin.test"),
                    try TestCertificate("b.origin.test", issuer: scene.authority),
                    try TestCertificate(
                        "*.origin.test", issuer: scene.authority, lifetime: -172_800...(-86_400)),
                ] {
                    let identity = try scene.identity(certificate)
                    try identity.append(scene.server)
                    let peer = try scene.peer(identity)
                    defer { peer.stop() }
                    var policy = try scene.policy()
                    policy.pinnedPublicKeys = [
                        "a.origin.test": [certificate.pin, scene.server.pin]
                    ]
                    #expect(try await scene.kind("a.origin.test", peer, policy) == "certificate")
                    #expect(peer.requestCount == 0)
                }
            }

            // With TLS 1.3 a client finishes its handshake before it learns that it was refused.
            @Test
            func `a client that the server refuses ends with a certificate error after sending`()
                async throws
            {
                let stranger = try TestCertificate("client.test")
                var behaviour = LoopbackTLS.Behaviour()
                behaviour.waitsAfterRefusal = true
                let identity = try scene.identity()
                try identity.requireClients(of: scene.authority)
                let peer = try scene.peer(identity, behaviour)
                defer { peer.stop() }
                var policy = try scene.policy()
                for shown in [nil, stranger] {
                    policy.clientIdentities["a.origin.test"] = try shown.map {
                        ClientIdentity(certificateChain: try $0.pem, privateKey: try $0.keyPEM())
                    }
                    for body in [nil, RequestBody.data(Data("x".utf8))] {
                        let kind = try await scene.kind("a.origin.test", peer, policy, body: body)
                        #expect(kind == "certificate")
                    }
                }
                #expect(peer.requestCount == 0)
            }

            // A reset may arrive before the alert that explains it, but never a response.
            @Test func `a client that the server refuses never reports success`() async throws {
                let identity = try scene.identity()
                try identity.requireClients(of: scene.authority)
                let peer = try scene.peer(identity)
                defer { peer.stop() }
                let policy = try scene.policy()
                for size in [0, 1, 3_000_000] {
                    let body = size == 0 ? nil : RequestBody.data(patternBytes(size))
                    let kind = try await scene.kind("a.origin.test", peer, policy, body: body)
                    #expect(["certificate", "connection_reset", "no_response"].contains(kind))
                }
                #expect(peer.requestCount == 0)
            }

            @Test func `a redirect sends no client identity to a host that has none`() async throws
            {
                let identity = try scene.identity()
                // With TLS 1.2 a refused client sends no request.
                try identity.requireClients(of: scene.authority, isOld: true)
                let peer = try scene.peer(
                    identity, .init(),
                    .serve(
                        LoopbackHandler { request in
                            guard request.headers["Host"]?.hasPrefix("a.") == true,
                                let port = request.headers["Host"]?.split(separator: ":").last
                            else { return .ok("fine") }
                            return .status(
                                302, headers: ["Location": "https://b.origin.test:\(port)/"])
                        }))
                defer { peer.stop() }
                var policy = try scene.policy()
                let ours = ClientIdentity(
                    certificateChain: try scene.client.pem, privateKey: try scene.client.keyPEM())
                policy.clientIdentities = ["a.origin.test": ours]
                // The host's other address is its DNS name, which does not resolve.
                #expect(try await scene.kind("a.origin.test", peer, policy) == "dns")
                #expect(peer.requestCount == 1)
                policy.clientIdentities["b.origin.test"] = ours
                #expect(try await scene.kind("a.origin.test", peer, policy) == "success")
                #expect(peer.requestCount == 3)
            }

            // RFC 9113 section 9.1.1 would allow it.
            @Test func `an HTTP/2 connection is used for no other name of its certificate`()
                async throws
            {
                let http2 = HTTP2Peer { _, stream in HTTP2Peer.response(stream, "fine") }
                let peer = try scene.peer(
                    try scene.identity(isHTTP2: true), .init(), http2.script)
                defer { peer.stop() }
                var policy = try scene.policy()
                policy.pinnedPublicKeys = ["k.origin.test": [scene.other]]
                let service = scene.service(policy, peer, http2: .always)
                for _ in 0..<2 {
                    #expect(try await scene.kind("a.origin.test", peer, service) == "success")
                    #expect(try await scene.kind("k.origin.test", peer, service) == "pin")
                    #expect(try await scene.kind("b.origin.test", peer, service) == "success")
                }
                #expect(http2.requests == 4)
                // One connection for each name, and one for each time that the pin did not match.
                #expect(peer.connectionCount == 4)
                await service.shutDown(gracePeriod: .zero)
            }

            // CVE-2021-0341 and similar: names that only look like the host.
            @Test(arguments: [
                ("k.origin.test", "success"), ("K.ORIGIN.test", "success"),
                ("k.origin.test\0.evil.test", "certificate"), ("k.origin.test\0", "certificate"),
                ("\u{212A}.origin.test", "certificate"), ("k.origin.t\u{E9}st", "certificate"),
                ("k.origin.test ", "certificate"), ("k\u{3002}origin.test", "certificate"),
                ("*.test", "certificate"), ("k*.*.test", "certificate"),
                ("*", "certificate"), ("*.*.test", "certificate"), ("", "certificate"),
            ])
            func `a certificate is valid for exactly the names in it`(
                name: String, expected: String
            ) async throws {
                let certificate = try TestCertificate(
                    "k.origin.test", issuer: scene.authority, alternativeName: Array(name.utf8))
                let peer = try scene.peer(try scene.identity(certificate))
                defer { peer.stop() }
                let kind = try await scene.kind("k.origin.test", peer, try scene.policy())
                #expect(kind == expected)
                #expect(peer.requestCount == (expected == "success" ? 1 : 0))
            }
        }
    }
#endif
