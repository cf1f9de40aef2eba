// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading
    @testable import DataLoadingOperations
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A collector whose certificate a private authority has signed.
        @Suite(.enabled(if: OpenSSL.shared != nil), .timeLimit(.minutes(30)))
        struct CollectorTLSTests {
            /// How many of nine items a collector did not take.
            private func lost(
                _ server: LoopbackServer, _ policy: ServerTrustPolicy?
            ) async -> Int {
                let url = testURL("https://localhost:\(server.port)/v1/metrics")
                var push = TelemetryPush(endpoint: url)
                push.serverTrustPolicy = policy
                let collector = Collector(push, nil, SystemTimekeeper())
                let lost = await collector.send(Array("{}".utf8), of: 9, to: url)
                await collector.shutDown(gracePeriod: .zero)
                return lost
            }

            @Test func `a collector is trusted by its authority, and is shown a certificate`()
                async throws
            {
                let authority = try TestCertificate("An authority", isAuthority: true)
                let certificate = try TestCertificate("localhost", issuer: authority)
                let identity = try TestIdentity(certificate, authority: try authority.pem)
                try identity.requireClients(of: authority)
                let server = try LoopbackServer(
                    script: .serve(LoopbackHandler { _ in .ok("{}") }),
                    cipher: LoopbackTLS.cipher(identity, .init(waitsAfterRefusal: true)))
                var policy = ServerTrustPolicy(certificateAuthorities: try authority.pem)
                let client = try TestCertificate("client.test", issuer: authority)
                policy.clientIdentities["localhost"] = ClientIdentity(
                    certificateChain: try client.pem, privateKey: try client.keyPEM())
                #expect(await lost(server, policy) == 0)
                policy.clientIdentities = [:]
                #expect(await lost(server, policy) == 9)
                #expect(await lost(server, nil) == 9)
                server.stop()
            }
        }
    }
#endif
