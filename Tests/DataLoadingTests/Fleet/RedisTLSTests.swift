// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoading
    import DataLoadingAuth
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// TLS to a real server, with the trust of loads.
        @Suite(
            .enabled(
                if: RedisServer.isInstalled && TestIdentity.all != nil,
                "redis-server or OpenSSL is not installed"))
        struct RedisTLSTests {
            let authority: TestCertificate
            let leaf: TestCertificate

            init() throws {
                authority = try TestCertificate("An authority", isAuthority: true)
                leaf = try TestCertificate("localhost", issuer: authority)
            }

            private func policy(
                _ change: (inout ServerTrustPolicy) throws -> Void = { _ in }
            ) throws -> ServerTrustPolicy {
                var policy = ServerTrustPolicy(certificateAuthorities: try authority.pem)
                try change(&policy)
                return policy
            }

            /// The answer to a PING, or the kind of the error that the connection failed by.
            private func ping(
                _ server: RedisServer, host: String = "localhost", _ trust: ServerTrustPolicy?
            ) async throws -> String {
                var configuration = RedisConfiguration(
                    endpoints: [try RedisEndpoint("rediss://\(host):\(server.port)")])
                configuration.trust = trust
                configuration.patience = .seconds(60)
                configuration.connectLimit = .seconds(60)
                let client = RedisClient(configuration)
                let task = Task { try await client.run(RedisCommand("PING")).text ?? "" }
                await eventually {
                    client.status.lastFailure != nil || client.status.connection == .ready
                }
                let failure = client.status.lastFailure
                if client.status.connection == .ready {
                    let answer = try await task.value
                    await client.shutDown()
                    return answer
                }
                await client.shutDown()
                _ = await task.result
                guard case .connection(let error) = failure else {
                    return "\(String(describing: failure))"
                }
                return error.name
            }

            @Test func `a server of the authority is trusted under its name only`() async throws {
                let server = try RedisServer.secure(certificate: leaf, authority: authority)
                #expect(try await ping(server, policy()) == "PONG")
                #expect(try await ping(server, host: "127.0.0.1", policy()) == "certificate")
                #expect(try await ping(server, nil) == "certificate")
                let stranger = try TestCertificate("Another", isAuthority: true)
                let other = ServerTrustPolicy(certificateAuthorities: try stranger.pem)
                #expect(try await ping(server, other) == "certificate")
            }

            @Test func `a server is trusted with one of its pins only`() async throws {
                let server = try RedisServer.secure(certificate: leaf, authority: authority)
                let good = try policy { $0.pinnedPublicKeys = ["localhost": [leaf.pin]] }
                #expect(try await ping(server, good) == "PONG")
                let wrong = try policy { $0.pinnedPublicKeys = ["localhost": [authority.pin]] }
                #expect(try await ping(server, wrong) == "pin")
            }

            @Test func `a server that wants a client certificate is shown the right one`()
                async throws
            {
                let server = try RedisServer.secure(
                    certificate: leaf, authority: authority, requiresClients: true)
                let shown = try TestCertificate("client", issuer: authority)
                let identity = ClientIdentity(
                    certificateChain: try shown.pem, privateKey: try shown.keyPEM())
                let good = try policy { $0.clientIdentities = ["localhost": identity] }
                #expect(try await ping(server, good) == "PONG")
                // With TLS 1.3 the refusal comes after the handshake, as a reset or an alert.
                #expect(try await ping(server, policy()) != "PONG")
                // Another authority's word is none.
                let stranger = try TestCertificate("Another", isAuthority: true)
                let forged = try TestCertificate("client", issuer: stranger)
                let other = ClientIdentity(
                    certificateChain: try forged.pem, privateKey: try forged.keyPEM())
                let wrong = try policy { $0.clientIdentities = ["localhost": other] }
                #expect(try await ping(server, wrong) != "PONG")
            }

            @Test func `a server whose certificate is over is not trusted`() async throws {
                let old = try TestCertificate(
                    "localhost", issuer: authority, lifetime: -172_800...(-86_400))
                let server = try RedisServer.secure(certificate: old, authority: authority)
                #expect(try await ping(server, policy()) == "certificate")
            }

            @Test func `a fleet shares rates and credentials over TLS with a certificate`()
                async throws
            {
                let server = try RedisServer.secure(
                    certificate: leaf, authority: authority, requiresClients: true)
                let shown = try TestCertificate("client", issuer: authority)
                let identity = ClientIdentity(
                    certificateChain: try shown.pem, privateKey: try shown.keyPEM())
                var configuration = RedisFleet.Configuration(
                    endpoints: [try RedisEndpoint("rediss://localhost:\(server.port)")],
                    namespace: "feeds")
                configuration.trust = try policy { $0.clientIdentities = ["localhost": identity] }
                configuration.patience = .seconds(60)
                let fleet = RedisFleet(configuration)
                let key = QuotaKey(scheme: "https", host: "api.test", port: 443)
                let lease = try await fleet.lease(
                    QuotaRequest(
                        key: key, requestsPerSecond: 1, burst: 1, count: 1, longestWait: nil,
                        knownLead: .zero))
                #expect(lease.count == 1)
                let store = fleet.makeCredentialStore(name: "login")
                let credentials = OAuthCredentials(
                    accessToken: "a", received: Date(timeIntervalSince1970: 1_767_225_600))
                try await store.update { _ in credentials }
                #expect(try await store.load() == credentials)
                await fleet.shutDown()
            }
        }
    }
#endif
