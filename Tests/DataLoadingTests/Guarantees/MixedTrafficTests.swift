// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingTransport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Concurrent streams, whole loads and uploads to several origins.
        @Suite(.enabled(if: NginxServer.isInstalled, "nginx and openssl are not installed"))
        struct MixedTrafficTests {
            private let server: NginxServer

            init() throws {
                server = try NginxServer()
            }

            // For longer runs by hand: MIXED_ROUNDS=500.
            private static let rounds =
                ProcessInfo.processInfo.environment["MIXED_ROUNDS"].flatMap { Int($0) } ?? 3

            @Test(arguments: [false, true])
            func `a body in chunks and whole loads beside it do not mix`(
                isWarm: Bool
            ) async throws {
                for _ in 0..<Self.rounds {
                    let service = try service()
                    let loader = service.makeFactory().makeDataLoader()
                    if isWarm { try await expectAnswer(loader) }
                    let chunks = loader.chunks(for: DataLoaderRequest(url: url("big")))
                    let iterator = chunks.makeAsyncIterator()
                    var body = try await iterator.next() ?? Data()
                    for _ in 0..<2 { try await expectAnswer(loader) }
                    while let chunk = try await iterator.next() { body += chunk }
                    #expect(body == NginxServer.big)
                    await service.shutDown(gracePeriod: .zero)
                }
            }

            @Test(arguments: [false, true])
            func `a download to a file and whole loads beside it do not mix`(
                isWarm: Bool
            ) async throws {
                let directory = TemporaryDirectory()
                for _ in 0..<Self.rounds {
                    let service = try service()
                    let loader = service.makeFactory().makeDataLoader()
                    if isWarm { try await expectAnswer(loader) }
                    let hasBegun = EventRecorder<Void>()
                    var request = DataLoaderRequest(url: url("slow"))
                    request.responseSink = .file(directory.url("body"))
                    request.downloadProgress = { _ in hasBegun.record(()) }
                    async let download = loader.response(for: request)
                    _ = await hasBegun.first(1)
                    for _ in 0..<4 { try await expectAnswer(loader) }
                    #expect(try await download.error == nil)
                    #expect(try Data(contentsOf: directory.url("body")) == NginxServer.big)
                    await service.shutDown(gracePeriod: .zero)
                }
            }

            @Test func `GET and POST to an HTTP/2 origin and an HTTP/1.1 origin all succeed`()
                async throws
            {
                let plain = try LoopbackServer { request in .ok("\(request.target)") }
                let directory = TemporaryDirectory()
                let service = try service()
                let loader = service.makeFactory().makeDataLoader()
                let ended = await withTaskGroup(of: String?.self) { group in
                    for number in 0..<600 {
                        if number >= 8 { _ = await group.next() }
                        group.addTask {
                            await self.load(number, loader, plain, directory)
                        }
                    }
                    return await group.reduce(into: [String?]()) { $0.append($1) }
                }
                #expect(ended.allSatisfy { $0 == nil })
                await service.shutDown(gracePeriod: .zero)
            }

            /// One load in four goes to the other origin, one in four has a body, one in eight goes
            /// to a file; returns what was wrong.
            private func load(
                _ number: Int, _ loader: DataLoader, _ plain: LoopbackServer,
                _ directory: TemporaryDirectory
            ) async -> String? {
                var request = DataLoaderRequest(
                    url: number % 4 == 3 ? plain.url("/\(number)") : url("\(number)"))
                if number % 4 == 1 {
                    request.method = .post
                    request.body = .data(Data("\(number)".utf8))
                }
                let file = number % 8 == 4 ? directory.url("\(number)") : nil
                if let file { request.responseSink = .file(file) }
                do {
                    let response = try await loader.response(for: request)
                    let body = try file.map { try Data(contentsOf: $0) } ?? response.body
                    let text = String(decoding: body ?? Data(), as: UTF8.self)
                    let isRight =
                        number % 4 == 3
                        ? text == "/\(number)" : text.contains(" origin.test origin.test:")
                    let problem = isRight ? nil : "\(number): \(text)"
                    if let problem { Issue.record("\(problem)") }
                    return problem
                } catch {
                    Issue.record("\(number): \(error)")
                    return "\(error)"
                }
            }

            @Test(arguments: [1, 2])
            func `hosts that do not finish their handshakes delay no other load`(
                count: Int
            ) async throws {
                let limit = Duration.seconds(1) * patience
                let time = try await fastest(within: limit) {
                    let holes = try (0..<count).map { _ in try LoopbackServer(script: .silent) }
                    let service = try service()
                    let loader = service.makeFactory().makeDataLoader()
                    for hole in holes {
                        for _ in 0..<8 {
                            loader.perform(
                                DataLoaderRequest(url: testURL("https://127.0.0.1:\(hole.port)/")))
                        }
                        await hole.waitForConnections(1)
                    }
                    let begun = ContinuousClock.now
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<8 { group.addTask { try await expectAnswer(loader) } }
                        try await group.waitForAll()
                    }
                    let time = ContinuousClock.now - begun
                    await service.shutDown(gracePeriod: .zero)
                    return time
                }
                #expect(time < limit)
            }

            @Test(arguments: [true, false])
            func `loads that a hung server did not answer leave nothing behind`(
                areCancelled: Bool
            ) async throws {
                let hole = try LoopbackServer(script: .silent)
                let healthy = try LoopbackServer { _ in .ok("fine") }
                let service = try service {
                    $0.timeouts.connect =
                        areCancelled ? .seconds(10) : .milliseconds(200) * patience
                }
                let loader = service.makeFactory().makeDataLoader()
                let hung = DataLoaderRequest(url: testURL("https://127.0.0.1:\(hole.port)/"))
                let tasks = (0..<8).map { _ in Task { try await loader.response(for: hung) } }
                await hole.waitForConnections(1)
                for task in tasks {
                    if areCancelled { task.cancel() }
                    await #expect(throws: DataLoaderError.self) { try await task.value }
                }
                for _ in 0..<50 {
                    let request = DataLoaderRequest(url: healthy.url())
                    #expect(try await loader.response(for: request).error == nil)
                }
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(arguments: [HTTP2Use.automatic, .always, .never])
            func `HTTP/2 is used as configured`(use: HTTP2Use) async throws {
                let service = try service { $0.http2 = use }
                let loader = service.makeFactory().makeDataLoader()
                let response = try await loader.response(for: DataLoaderRequest(url: url("")))
                let library = try #require(CurlLibrary.shared)
                let keepsApart = library.version >= 0x08_05_00
                let speaks = use == .always || (use == .automatic && keepsApart)
                #expect(response.metrics.httpVersion == (speaks ? "2" : "1.1"))
                await service.shutDown(gracePeriod: .zero)
            }

            private func url(_ path: String) -> URL {
                testURL("https://origin.test:\(server.port)/\(path)")
            }

            private func expectAnswer(_ loader: DataLoader) async throws {
                let response = try await loader.response(for: DataLoaderRequest(url: url("")))
                #expect(response.statusCode == .init(rawValue: 200))
                let text = String(decoding: response.body ?? Data(), as: UTF8.self)
                #expect(text == "HTTP/2.0 origin.test origin.test:\(server.port)")
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
        }
    }
#endif
