// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Files and broken bodies on real connections.
        @Suite struct SocketSinkTests {
            private let directory = TemporaryDirectory()

            enum Break: CaseIterable, Sendable {
                case reset, short, unfinishedChunks
            }

            @Test(arguments: Break.allCases)
            func `a body that breaks twice is complete in the end, with each byte sent once`(
                how: Break
            ) async throws {
                let body = patternBytes(300_000)
                let count = Locked(0)
                let server = try LoopbackServer { request in
                    let number = count.withLock { count in
                        defer { count += 1 }
                        return count % 3
                    }
                    return Self.answer(request, body, number < 2 ? how : nil)
                }
                defer { server.stop() }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                var request = DataLoaderRequest(url: server.url())
                request.retryPolicy = .immediately(maximumRetries: 2)
                let whole = try await loader.response(for: request)
                #expect(whole.error == nil)
                let isSame = whole.body == body
                #expect(isSame)

                var chunks = Data()
                for try await chunk in loader.chunks(for: request) { chunks += chunk }
                let isSameInChunks = chunks == body
                #expect(isSameInChunks)

                let file = directory.url("file")
                request.responseSink = .file(file)
                let filed = try await loader.response(for: request)
                #expect(filed.bodyFile == file)
                let isSameInFile = try Data(contentsOf: file) == body
                #expect(isSameInFile)
                #expect(directory.names == ["file"])

                // Each response breaks off after half of what was left.
                let ranges = server.requests.map { $0.headers["Range"] }
                let ofOneLoad = [nil, "bytes=150000-", "bytes=225000-"]
                #expect(ranges == ofOneLoad + ofOneLoad + ofOneLoad)
                #expect(filed.metrics.attempts == 3)
                await service.shutDown(gracePeriod: .seconds(1))
            }

            @Test func `a file sink writes 150 MB in bounded memory`() async {
                await #expect(processExitsWith: .success) {
                    let size: Int64 = 150_000_000
                    let server = try LoopbackServer { _ in .ok(.pattern(size)) }
                    let directory = TemporaryDirectory()
                    let file = directory.url("file")
                    let service = DataLoaderService()
                    let loader = service.makeFactory().makeDataLoader()
                    let before = ProcessFigures.residentBytes
                    let peak = Locked<Int64>(0)
                    var request = DataLoaderRequest(url: server.url())
                    request.responseSink = .file(file)
                    request.downloadProgress = { _ in
                        let now = Int64(ProcessFigures.residentBytes)
                        peak.withLock { $0 = max($0, now) }
                    }
                    let response = try await loader.response(for: request)
                    guard response.error == nil, response.metrics.decodedBytes == size else {
                        exit(2)
                    }
                    guard
                        ProcessFigures.isSanitized
                            || peak.withLock({ $0 }) - Int64(before) < 32 * 1_048_576
                    else { exit(3) }
                    let handle = try FileHandle(forReadingFrom: file)
                    var offset: Int64 = 0
                    while let piece = try handle.read(upToCount: 1_000_000), !piece.isEmpty {
                        guard LoopbackPayload.patternMatches(piece, at: offset) else { exit(4) }
                        offset += Int64(piece.count)
                    }
                    guard offset == size else { exit(5) }
                }
            }

            private static func answer(
                _ request: RecordedRequest, _ body: Data, _ how: Break?
            ) -> LoopbackResponse {
                let first = request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
                let start = first ?? 0
                var headers: HTTPHeaders = ["ETag": "\"v1\""]
                if first != nil {
                    headers["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
                }
                let status = first == nil ? 200 : 206
                let rest = body[start...]
                let part = LoopbackPayload.data(Data(rest.prefix(rest.count / 2)))
                switch how {
                case nil: return .status(status, headers: headers, body: .data(Data(rest)))
                case .reset, .short:
                    headers["Content-Length"] = "\(rest.count)"
                    // The reset does not remove what the client's system has received.
                    return .steps(
                        .head(status, headers: headers), .content(part), .flush, .confirmed,
                        how == .reset ? .reset : .close)
                case .unfinishedChunks:
                    headers["Transfer-Encoding"] = "chunked"
                    return .steps(
                        .head(status, headers: headers), .chunks(part, of: 10_000), .flush, .close)
                }
            }
        }
    }
#endif
