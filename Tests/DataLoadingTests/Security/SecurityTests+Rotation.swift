// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // Which connections are used once pins and client certificates have changed.
        @Suite(.enabled(if: TestIdentity.all != nil, "OpenSSL is not installed"))
        struct SecurityTestsRotation {
            private let scene: TrustScene

            init() throws {
                scene = try TrustScene()
            }

            private func shown(_ certificate: TestCertificate) throws -> ClientIdentity {
                ClientIdentity(
                    certificateChain: try certificate.pem, privateKey: try certificate.keyPEM())
            }

            private func requiringPeer(isHTTP2: Bool = false) throws -> LoopbackServer {
                let identity = try scene.identity(isHTTP2: isHTTP2)
                try identity.requireClients(of: scene.authority, isOld: true)
                return try scene.peer(identity)
            }

            @Test func `no connection of an old client identity is used after a rotation`()
                async throws
            {
                let peer = try requiringPeer()
                defer { peer.stop() }
                var policy = try scene.policy()
                policy.clientIdentities["a.origin.test"] = try shown(scene.client)
                let service = scene.service(policy, peer)
                let host = "a.origin.test"
                #expect(try await scene.kind(host, peer, service) == "success")
                #expect(try await scene.kind(host, peer, service) == "success")
                #expect(peer.connectionCount == 1)
                let renewed = try TestCertificate("client.test", issuer: scene.authority)
                policy.clientIdentities["a.origin.test"] = try shown(renewed)
                try service.setServerTrustPolicy(policy)
                #expect(try await scene.kind(host, peer, service) == "success")
                #expect(peer.connectionCount == 2)
                // Without an identity the server refuses the handshake, kept connections or not.
                policy.clientIdentities = [:]
                try service.setServerTrustPolicy(policy)
                #expect(try await scene.kind(host, peer, service) != "success")
                #expect(peer.requestCount == 3)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a new pin is checked although a connection without it is open`()
                async throws
            {
                let peer = try scene.peer(try scene.identity())
                defer { peer.stop() }
                var policy = try scene.policy()
                let service = scene.service(policy, peer)
                let host = "a.origin.test"
                #expect(try await scene.kind(host, peer, service) == "success")
                policy.pinnedPublicKeys = [host: [scene.other]]
                try service.setServerTrustPolicy(policy)
                #expect(try await scene.kind(host, peer, service) == "pin")
                #expect(peer.requestCount == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test
            func `a request's own identity opens a connection that other requests do not use`()
                async throws
            {
                let peer = try requiringPeer()
                defer { peer.stop() }
                let service = scene.service(try scene.policy(), peer)
                var request = scene.request(.get, peer)
                request.clientIdentity = try shown(scene.client)
                let loader = service.makeFactory().makeDataLoader()
                #expect(try await loader.response(for: request).statusCode == .ok)
                #expect(try await scene.kind("a.origin.test", peer, service) != "success")
                #expect(try await loader.response(for: request).statusCode == .ok)
                #expect(peer.requestCount == 2)
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
