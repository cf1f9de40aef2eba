// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    @testable import DataLoadingTransport
    @testable import DataLoading
    @testable import DataLoadingAuth
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // Apache as the proxy, with a password.
        @Suite(.enabled(if: RealServer.areWanted)) struct RealProxyTests {
            private let apache: ApacheProxy
            private let origin: LoopbackServer
            private let secureOrigin: LoopbackServer
            private let authority: TestCertificate

            init() throws {
                apache = try ApacheProxy()
                authority = try TestCertificate("An authority", isAuthority: true)
                let certificate = try TestCertificate("localhost", issuer: authority)
                origin = try LoopbackServer { .ok(.text("plain" + $0.target)) }
                secureOrigin = try LoopbackServer(
                    script: .serve(LoopbackHandler { .ok(.text("secure" + $0.target)) }),
                    cipher: LoopbackTLS.cipher(
                        try TestIdentity(certificate, authority: try authority.pem)))
            }

            private func service(
                isSecure: Bool, password: String = "word", directHosts: [String] = [],
                _ change: (inout DataLoaderService.Configuration) -> Void = { _ in }
            ) throws -> DataLoaderService {
                var configuration = DataLoaderService.Configuration()
                configuration.proxy =
                    isSecure
                    ? try Proxy(
                        "https://127.0.0.1:\(apache.secure)", directHosts: directHosts,
                        certificateAuthorities: try apache.authority)
                    : try Proxy("http://127.0.0.1:\(apache.plain)", directHosts: directHosts)
                configuration.proxyAuthoriser = BasicAuthoriser(
                    hosts: ["127.0.0.1:*"], allowsPlainLoopback: true,
                    credentials: try BasicCredentials(username: "ada", password: password))
                configuration.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: try authority.pem)
                change(&configuration)
                return DataLoaderService(configuration: configuration)
            }

            private func request(_ server: LoopbackServer, _ path: String) -> DataLoaderRequest {
                let scheme = server === origin ? "http" : "https"
                var request = DataLoaderRequest(
                    url: testURL("\(scheme)://localhost:\(server.port)\(path)"))
                request.headers["Authorization"] = "Bearer origin"
                return request
            }

            @Test(arguments: [false, true])
            func `plain and https servers are loaded through Apache, with its password`(
                isSecure: Bool
            ) async throws {
                let service = try service(isSecure: isSecure)
                let loader = service.makeFactory().makeDataLoader()
                for number in 0..<3 {
                    let plain = try await loader.response(for: request(origin, "/\(number)"))
                    #expect(plain.body == Data("plain/\(number)".utf8))
                    let secure = try await loader.response(for: request(secureOrigin, "/\(number)"))
                    #expect(secure.body == Data("secure/\(number)".utf8))
                }
                // The three over TLS share a tunnel.
                #expect(secureOrigin.connectionCount == 1)
                await service.shutDown(gracePeriod: .zero)
                await expectSeparateCredentials()
                apache.stop()
            }

            @Test(arguments: [false, true])
            func `a wrong password for Apache ends each load as the proxy's, and reaches no server`(
                isSecure: Bool
            ) async throws {
                let service = try service(isSecure: isSecure, password: "wrong")
                let loader = service.makeFactory().makeDataLoader()
                for server in [origin, secureOrigin] {
                    await #expect(
                        throws: DataLoaderError.proxy(.status(.proxyAuthenticationRequired))
                    ) {
                        try await loader.response(for: request(server, "/"))
                    }
                    #expect(server.connectionCount == 0)
                }
                await service.shutDown(gracePeriod: .zero)
                apache.stop()
            }

            @Test func `a new password for Apache is asked for once, by loads of both kinds`()
                async throws
            {
                let right = try BasicCredentials(username: "ada", password: "word")
                let wrong = try BasicCredentials(username: "ada", password: "wrong")
                let asked = EventRecorder<Void>()
                let service = try service(isSecure: true) { configuration in
                    configuration.proxyAuthoriser = BasicAuthoriser(
                        hosts: ["127.0.0.1:*"], credentials: wrong
                    ) { _ in
                        asked.record(())
                        return right
                    }
                }
                let loader = service.makeFactory().makeDataLoader()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        let server = number % 2 == 0 ? origin : secureOrigin
                        let request = request(server, "/\(number)")
                        group.addTask {
                            let response = try await loader.response(for: request)
                            #expect(response.statusCode == .ok)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(asked.elements.count == 1)
                await service.shutDown(gracePeriod: .zero)
                apache.stop()
            }

            @Test func `Apache says why there is no tunnel, and the load ends with its status`()
                async throws
            {
                let service = try service(isSecure: false)
                let loader = service.makeFactory().makeDataLoader()
                let closed = try LoopbackServer { _ in .ok() }
                closed.goDown()
                let request = DataLoaderRequest(url: testURL("https://localhost:\(closed.port)/"))
                let error = await #expect(throws: DataLoaderError.self) {
                    try await loader.response(for: request)
                }
                guard case .proxy(.status(let status)) = error?.kind else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(status == .serviceUnavailable || status == .badGateway)
                #expect(error?.phase == .connecting)
                await service.shutDown(gracePeriod: .zero)
                apache.stop()
            }

            @Test
            func `three hundred loads by proxy, directly and by socket keep their credentials`()
                async throws
            {
                let directory = TemporaryDirectory()
                var settings = LoopbackServer.Configuration()
                settings.unixSocket = directory.url("s").path
                let sibling = try LoopbackServer(settings) { .ok(.text("sibling" + $0.target)) }
                let own = StaticTokenAuthoriser(
                    token: "origin", hosts: ["localhost:\(secureOrigin.port)"])
                let service = try service(isSecure: true, directHosts: ["localhost:\(origin.port)"])
                {
                    $0.resolver.setAddresses(
                        [sibling.address], forHost: "sibling", fallsBackToDNS: false)
                    $0.limits.perOrigin = 30
                }
                let loaders = (0..<3).map { _ in
                    service.makeFactory(authorisers: [own]).makeDataLoader()
                }
                let results = Locked<[String: Int]>([:])
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<300 {
                        var request =
                            switch number % 3 {
                            case 0: request(origin, "/\(number)")
                            case 1: request(secureOrigin, "/\(number)")
                            default:
                                DataLoaderRequest(url: testURL("http://sibling/\(number)"))
                            }
                        // The authoriser of the factory adds it.
                        if number % 3 == 1 { request.headers["Authorization"] = nil }
                        let asked = request
                        let loader = loaders[number / 3 % 3]
                        group.addTask {
                            // Every seventh load is cancelled at some point of its life.
                            let task = Task { try await loader.response(for: asked) }
                            if number % 7 == 0 { task.cancel() }
                            let expected = ["plain", "secure", "sibling"][number % 3]
                            do {
                                let response = try await task.value
                                let text = String(decoding: response.body ?? Data(), as: UTF8.self)
                                #expect(text == "\(expected)/\(number)")
                                results.withLock { $0[expected, default: 0] += 1 }
                            } catch {
                                #expect(number % 7 == 0 && error as? DataLoaderError == .cancelled)
                            }
                        }
                    }
                }
                let counts = results.withLock { $0 }
                #expect(counts.values.reduce(0, +) >= 257)
                await service.shutDown(gracePeriod: .seconds(10))
                await expectSeparateCredentials()
                #expect(apache.log.allSatisfy { $0.hasPrefix("CONNECT localhost:") })
                #expect(sibling.requests.allSatisfy { $0.headers["Host"] == "sibling" })
                #expect(sibling.requests.allSatisfy { !$0.headers.contains("Proxy-Authorization") })
                apache.stop()
            }

            /// Expects that no server got the proxy's credential, and no CONNECT a server's.
            private func expectSeparateCredentials(
                sourceLocation: SourceLocation = #_sourceLocation
            ) async {
                // Apache writes the line of a tunnel when it has ended.
                let opened = secureOrigin.connectionCount
                await eventually {
                    apache.log.count { $0.hasPrefix("CONNECT ") } >= opened
                }
                let requests = origin.requests + secureOrigin.requests
                #expect(!requests.isEmpty, sourceLocation: sourceLocation)
                #expect(
                    requests.allSatisfy { !$0.headers.contains("Proxy-Authorization") },
                    sourceLocation: sourceLocation)
                #expect(
                    requests.allSatisfy { $0.headers["Authorization"] == "Bearer origin" },
                    sourceLocation: sourceLocation)
                let tunnels = apache.log.filter { $0.hasPrefix("CONNECT ") }
                #expect(!tunnels.isEmpty, sourceLocation: sourceLocation)
                #expect(
                    tunnels.allSatisfy { $0.contains("[-] [Basic ") },
                    sourceLocation: sourceLocation)
            }
        }
    }
#endif
