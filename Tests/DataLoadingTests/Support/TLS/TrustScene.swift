// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    /// An authority with a server and a client certificate, and loads of hosts below "origin.test".
    struct TrustScene {
        static let hosts =
            ["a", "b", "k", "empty"].map { $0 + ".origin.test" } + ["a.origin.test."]

        let authority: TestCertificate
        let client: TestCertificate
        let server: TestCertificate
        let other = Data(repeating: 7, count: 32).base64EncodedString()

        init() throws {
            authority = try TestCertificate("An authority", isAuthority: true)
            client = try TestCertificate("client.test", issuer: authority)
            server = try TestCertificate("*.origin.test", issuer: authority)
        }

        /// Trusts only the authority.
        func policy() throws -> ServerTrustPolicy {
            ServerTrustPolicy(certificateAuthorities: try authority.pem)
        }

        /// An identity whose certificate the authority signed.
        func identity(
            _ certificate: TestCertificate? = nil, isHTTP2: Bool = false
        ) throws -> TestIdentity {
            try TestIdentity(
                certificate ?? server, authority: try authority.pem, isHTTP2: isHTTP2)
        }

        func peer(
            _ identity: TestIdentity, _ behaviour: LoopbackTLS.Behaviour = .init(),
            _ script: LoopbackScript = .serve(LoopbackHandler { _ in .ok("fine") })
        ) throws -> LoopbackServer {
            try LoopbackServer(script: script, cipher: LoopbackTLS.cipher(identity, behaviour))
        }

        /// Agrees to HTTP/2 on some of its connections, by their numbers.
        func peer(
            _ script: LoopbackScript, isHTTP2: @escaping @Sendable (Int) -> Bool
        ) throws -> LoopbackServer {
            let multiplexed = LoopbackTLS.cipher(try identity(isHTTP2: true))
            let serial = LoopbackTLS.cipher(try identity())
            let count = Locked(0)
            return try LoopbackServer(
                script: script,
                cipher: { socket in
                    let number = count.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    return isHTTP2(number) ? multiplexed(socket) : serial(socket)
                })
        }

        func request(
            _ method: HTTPMethod, _ peer: LoopbackServer, path: String = "", body: String? = nil
        ) -> DataLoaderRequest {
            var request = DataLoaderRequest(
                url: testURL("https://a.origin.test:\(peer.port)/\(path)"))
            request.method = method
            request.body = body.map { .data(Data($0.utf8)) }
            return request
        }

        func service(
            _ policy: ServerTrustPolicy, _ peer: LoopbackServer, http2: HTTP2Use = .never,
            over transport: (any Transport)? = nil
        ) -> DataLoaderService {
            var configuration = DataLoaderService.Configuration()
            configuration.transport = transport
            configuration.serverTrustPolicy = policy
            configuration.http2 = http2
            let service = DataLoaderService(configuration: configuration)
            for host in Self.hosts {
                service.resolver.setAddresses(["127.0.0.1:\(peer.port)"], forHost: host)
            }
            return service
        }

        /// The outcome of a load with a service of its own: "success" or the kind of its error.
        func kind(
            _ host: String, _ peer: LoopbackServer, _ policy: ServerTrustPolicy,
            body: RequestBody? = nil
        ) async throws -> String {
            let service = service(policy, peer)
            let kind = try await kind(host, peer, service, body: body)
            await service.shutDown(gracePeriod: .zero)
            return kind
        }

        func kind(
            _ host: String, _ peer: LoopbackServer, _ service: DataLoaderService,
            body: RequestBody? = nil
        ) async throws -> String {
            var request = DataLoaderRequest(url: testURL("https://\(host):\(peer.port)/"))
            request.body = body
            if body != nil { request.method = .post }
            do {
                _ = try await service.makeFactory().makeDataLoader().response(for: request)
                return "success"
            } catch let error as DataLoaderError {
                return error.name
            }
        }
    }
#endif
