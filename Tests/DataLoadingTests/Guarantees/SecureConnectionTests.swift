// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// TLS, names, pins and HTTP/2 with nginx.
        @Suite(.enabled(if: NginxServer.isInstalled, "nginx and openssl are not installed"))
        struct SecureConnectionTests {
            private let server: NginxServer
            private let url: URL

            init() throws {
                server = try NginxServer()
                url = testURL("https://origin.test:\(server.port)/")
            }

            @Test func `a load trusts a private authority and uses HTTP/2`() async throws {
                let service = try service()
                let response = try await load(with: service)
                #expect(response.metrics.httpVersion == "2")
                #expect(response.metrics.remoteAddress == "127.0.0.1")
                #expect(response.metrics.tlsTime > .zero)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test
            func `a fallback address keeps the host's name, Host field and certificate check`()
                async throws
            {
                let service = try service()
                let body = try await load(with: service).body ?? Data()
                #expect(
                    String(decoding: body, as: UTF8.self)
                        == "HTTP/2.0 origin.test origin.test:\(server.port)")
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `sixty loads at once share one HTTP/2 connection`() async throws {
                let service = try service()
                let loader = service.makeFactory().makeDataLoader()
                let connections = try await withThrowingTaskGroup(of: String?.self) { group in
                    for _ in 0..<60 {
                        group.addTask { [url] in
                            try await loader.response(for: DataLoaderRequest(url: url))
                                .headers["X-Connection"]
                        }
                    }
                    return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
                }
                #expect(connections.count == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            // nginx ends connections with a GOAWAY while streams above its last one are open.
            // The POSTs have no body: nginx would answer before it arrives and reset the stream.
            @Test func `no POST is lost when connections end after fifty requests`() async throws {
                let ending = try NginxServer(requestsPerConnection: 50)
                var configuration = DataLoaderService.Configuration()
                configuration.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: try ending.authority)
                configuration.limits.perOrigin = 100
                configuration.http2 = .always
                let service = DataLoaderService(configuration: configuration)
                service.resolver.setAddresses(["127.0.0.1:\(ending.port)"], forHost: "origin.test")
                let loader = service.makeFactory().makeDataLoader()
                var post = DataLoaderRequest(
                    url: testURL("https://origin.test:\(ending.port)/"))
                post.method = .post
                post.maximumRetryCount = 3
                let request = post
                // Whether a stream is refused depends on timing.
                var replaced = 0
                for _ in 0..<20 where replaced == 0 {
                    replaced = try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<600 {
                            group.addTask {
                                try await loader.response(for: request).metrics.replacedConnections
                            }
                        }
                        return try await group.reduce(0, +)
                    }
                }
                #expect(replaced > 0)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a load in chunks uses HTTP/1.1 although HTTP/2 is enabled`() async throws {
                let service = try service()
                let loader = service.makeFactory().makeDataLoader()
                var body = Data()
                for try await chunk in loader.chunks(for: DataLoaderRequest(url: url)) {
                    body += chunk
                }
                #expect(String(decoding: body, as: UTF8.self).hasPrefix("HTTP/1.1 "))
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a certificate of an untrusted authority is refused`() async throws {
                let service = try service { $0.serverTrustPolicy = nil }
                await #expect(throws: DataLoaderError.self) {
                    do {
                        _ = try await load(with: service)
                    } catch let error as DataLoaderError {
                        #expect(error.name == "certificate")
                        throw error
                    }
                }
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a certificate for another name is refused without trying another address`()
                async throws
            {
                let service = try service()
                service.resolver.setAddresses(
                    ["127.0.0.1:\(server.port)", "127.0.0.1:1"], forHost: "other.test")
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: testURL("https://other.test:\(server.port)/"))
                await #expect(throws: DataLoaderError.self) {
                    do {
                        _ = try await loader.response(for: request)
                    } catch let error as DataLoaderError {
                        #expect(error.name == "certificate")
                        throw error
                    }
                }
                await service.shutDown(gracePeriod: .zero)
            }

            @Test func `a pinned key and its backup are accepted, and any other key is refused`()
                async throws
            {
                let pin = try server.pin
                let other = Data(repeating: 7, count: 32).base64EncodedString()
                let pinned = try service {
                    $0.serverTrustPolicy?.pinnedPublicKeys = ["origin.test": [other, pin]]
                }
                _ = try await load(with: pinned)
                await pinned.shutDown(gracePeriod: .zero)
                let wrong = try service {
                    $0.serverTrustPolicy?.pinnedPublicKeys = ["origin.test": [other]]
                }
                await #expect(throws: DataLoaderError.pin) { try await load(with: wrong) }
                await wrong.shutDown(gracePeriod: .zero)
            }

            @Test func `TLS to a plain HTTP port fails as a TLS error`() async throws {
                let plain = try LoopbackServer(
                    script: .steps(.bytes("HTTP/1.1 400 Bad Request\r\n\r\n"), .flush, .close))
                let service = try service()
                let loader = service.makeFactory().makeDataLoader()
                let request = DataLoaderRequest(url: testURL("https://127.0.0.1:\(plain.port)/"))
                await #expect(throws: DataLoaderError.tls) {
                    try await loader.response(for: request)
                }
                await service.shutDown(gracePeriod: .zero)
            }

            private func service(
                _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
            ) throws -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                configuration.http2 = .always
                configuration.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: try server.authority)
                configure(&configuration)
                let service = DataLoaderService(configuration: configuration)
                service.resolver.setAddresses(["127.0.0.1:\(server.port)"], forHost: "origin.test")
                return service
            }

            private func load(with service: DataLoaderService) async throws -> DataLoaderResponse {
                try await service.makeFactory().makeDataLoader().response(
                    for: DataLoaderRequest(url: url))
            }
        }
    }
#endif
