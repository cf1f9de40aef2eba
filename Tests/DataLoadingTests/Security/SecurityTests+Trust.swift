// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // FAULTS section 4: whose certificate counts, for which name, and who is shown ours.
        @Suite(.enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"))
        struct SecurityTestsTrust {
            private let scene: TrustScene

            init() throws {
                scene = try TrustScene()
            }

            // CVE-2016-2402: a server may show what it likes behind a certificate of its own.
            @Test func `a pin is met by the key that a server has, by none that it shows`()
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

            @Test func `a pin that is met takes the place of no authority and of no name`()
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

            // Of TLS 1.3: a client is through with the handshake when it hears that it was refused.
            @Test func `a refused client is told so, though it has sent its request`() async throws
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

            // A reset may come before the word that explains it; a response never does.
            @Test func `a refused client never takes its refusal for a success`() async throws {
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

            @Test func `a redirect takes no identity along to a host that has none`() async throws {
                let identity = try scene.identity()
                // Of TLS 1.2: no request is sent by a client that was refused.
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
                // The host's other address is its name, which leads nowhere.
                #expect(try await scene.kind("a.origin.test", peer, policy) == "dns")
                #expect(peer.requestCount == 1)
                policy.clientIdentities["b.origin.test"] = ours
                #expect(try await scene.kind("a.origin.test", peer, policy) == "success")
                #expect(peer.requestCount == 3)
            }

            // RFC 9113 section 9.1.1 would allow it.
            @Test func `a connection of HTTP/2 is used for no other name of its certificate`()
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
                // One for each name, and one for each time that the pin was not met.
                #expect(peer.connectionCount == 4)
                await service.shutDown(gracePeriod: .zero)
            }

            // CVE-2021-0341 and its like: names that only look as if they were the host's.
            @Test(arguments: [
                ("k.origin.test", "success"), ("K.ORIGIN.test", "success"),
                ("k.origin.test\0.evil.test", "certificate"), ("k.origin.test\0", "certificate"),
                ("\u{212A}.origin.test", "certificate"), ("k.origin.t\u{E9}st", "certificate"),
                ("k.origin.test ", "certificate"), ("k\u{3002}origin.test", "certificate"),
                ("*.test", "certificate"), ("k*.*.test", "certificate"),
                ("*", "certificate"), ("*.*.test", "certificate"), ("", "certificate"),
            ])
            func `a certificate is good for the names in it, to the byte`(
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
