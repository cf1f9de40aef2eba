// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Continued downloads on real connections, and in processes that are killed.
        @Suite struct ResumedFileSocketTests {
            private let directory = TemporaryDirectory()

            private static func request(
                _ url: URL, _ file: URL, sha256: String? = nil
            ) -> DataLoaderRequest {
                var request = DataLoaderRequest(url: url)
                request.responseSink = .file(file, resumesAcrossRestarts: true, sha256: sha256)
                return request
            }

            @Test func `a cancelled download is continued by the next one`() async throws {
                let server = try ResumedFileServer(pause: .milliseconds(1))
                defer { server.stop() }
                let file = directory.url("file")
                let url = testURL("http://127.0.0.1:\(server.port)/fixed")
                for round in 0..<3 {
                    let service = DataLoaderService()
                    let delegate = RecordingDelegate()
                    let loader = service.makeFactory().makeDataLoader(delegate: delegate)
                    let token = Locked<CancellationToken?>(nil)
                    var request = Self.request(url, file)
                    request.downloadProgress = { progress in
                        guard progress.completed > 50_000 * (Int64(round) + 1) else { return }
                        token.withLock { $0 }?.cancel()
                    }
                    let started = loader.perform(request)
                    token.withLock { $0 = started }
                    _ = await delegate.outcomes(1)
                    await service.shutDown(gracePeriod: .seconds(1))
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                let response = try await loader.response(for: Self.request(url, file))
                #expect(response.error == nil)
                let isWhole = try ResumedFileServer.isWhole(Data(contentsOf: file))
                #expect(isWhole)
                #expect(directory.names == ["file"])
                await service.shutDown(gracePeriod: .seconds(1))
            }

            @Test(.enabled(if: NginxServer.isInstalled, "nginx and openssl are not installed"))
            func `nginx continues a part, of any length, and of no other body`() async throws {
                let server = try NginxServer()
                let big = NginxServer.big
                let file = directory.url("file")
                let url = testURL("https://origin.test:\(server.port)/big")
                var configuration = DataLoaderService.Configuration()
                configuration.serverTrustPolicy = ServerTrustPolicy(
                    certificateAuthorities: try server.authority)
                let service = DataLoaderService(configuration: configuration)
                service.resolver.setAddresses(["127.0.0.1:\(server.port)"], forHost: "origin.test")
                let loader = service.makeFactory().makeDataLoader()
                let place = PartPlace(beside: file)
                let whole = try await loader.response(for: Self.request(url, file))
                #expect(whole.error == nil)
                let record = try #require(
                    PartRecord(of: whole, request: PartRecord.digest(of: Self.request(url, file))))
                for (count, tag) in [(1_000, true), (big.count, true), (5_000, false)] {
                    try FileManager.default.removeItem(at: file)
                    var part = Data(big.prefix(count))
                    var changed = record
                    if !tag {
                        changed = try Self.other(record)
                        part[0] ^= 1
                    }
                    try part.write(to: URL(fileURLWithPath: place.part))
                    chmod(place.part, 0o600)
                    try place.write(changed)
                    let next = try await loader.response(for: Self.request(url, file))
                    #expect(next.error == nil)
                    #expect(next.metrics.attempts == 1)
                    let bytes = tag ? big.count - count + 1 : big.count
                    #expect(next.metrics.decodedBytes == Int64(bytes))
                    let isWhole = try Data(contentsOf: file) == big
                    #expect(isWhole)
                    #expect(directory.names == ["file"])
                }
                await service.shutDown(gracePeriod: .seconds(1))
            }

            /// A record of another body of the same URL.
            private static func other(_ record: PartRecord) throws -> PartRecord {
                let text = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
                let tag = record.validator.text.dropFirst().dropLast()
                let other = text.replacingOccurrences(of: tag, with: "other")
                return try #require(PartRecord(Data(other.utf8)))
            }

            /// The number of processes that are killed: `RESUME_KILLS` in the environment counts
            /// them, for longer runs by hand.
            private static var kills: Int {
                ProcessInfo.processInfo.environment["RESUME_KILLS"].flatMap { Int($0) } ?? 12
            }

            /// Downloads to a file, again and again, until a thread kills the process, at any moment.
            private static func downloadUntilKilled(
                _ url: String, _ file: String, _ sha256: String?, _ seed: Int
            ) async throws {
                var generator = SeededGenerator(seed: UInt64(seed))
                let longest = 150_000 * UInt32(clamping: patience)
                let pause = UInt32.random(in: 0..<longest, using: &generator)
                let request = request(
                    testURL(url), URL(fileURLWithPath: file), sha256: sha256)
                let loader = DataLoaderService().makeFactory().makeDataLoader()
                Thread.detachNewThread {
                    usleep(pause)
                    kill(getpid(), SIGKILL)
                }
                while true { _ = try await loader.response(for: request) }
            }

            @Test(arguments: ["/fixed", "/changing"])
            func `killed processes leave parts that are continued, and no file that is not whole`(
                path: String
            ) async throws {
                let server = try ResumedFileServer(pause: .milliseconds(5))
                defer { server.stop() }
                let file = directory.url("file")
                let url = "http://127.0.0.1:\(server.port)\(path)"
                let isFixed = path == "/fixed"
                let digest = isFixed ? SHA256.hex(SHA256.hash(ResumedFileServer.body(0))) : nil
                var completed = 0
                for round in 0..<Self.kills {
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [
                            url = url as String, file = file.path as String,
                            digest = digest as String?, seed = round as Int
                        ] in
                        try await Self.downloadUntilKilled(url, file, digest, seed)
                    }
                    if let data = try? Data(contentsOf: file) {
                        completed += 1
                        let isWhole = ResumedFileServer.isWhole(data)
                        #expect(isWhole, "round \(round)")
                        try FileManager.default.removeItem(at: file)
                    }
                    if round % 5 == 4 { server.change() }
                }
                print("killed \(Self.kills): \(completed) files, \(server.ranges) continued parts")
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                let response = try await loader.response(
                    for: Self.request(testURL(url), file, sha256: digest))
                #expect(response.error == nil)
                let isWhole = try ResumedFileServer.isWhole(Data(contentsOf: file))
                #expect(isWhole)
                #expect(server.ranges > 0)
                await service.shutDown(gracePeriod: .seconds(1))
            }
        }
    }
#endif
