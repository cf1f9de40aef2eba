// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import DataLoadingTransport
    import Foundation
    import Testing

    // The sample of sibling daemons that share one fetcher: both ends.

    struct Asked: Codable {
        var method: String
        var url: URL
        var fields: [[String]]
        var body: Data?
    }

    struct Answered: Codable {
        var status: Int?
        var fields: [[String]] = []
        var error = ""
    }

    struct SiblingTransport: Sendable {
        let path: String

        func makeTransport() -> PeerTransport {
            PeerTransport { request in
                let asked = try Asked(request)
                let socket = try FrameSocket.connect(to: path)
                try await socket.send(JSONEncoder().encode(asked))
                let answered = try await JSONDecoder().decode(
                    Answered.self, from: socket.receive())
                guard let status = answered.status else {
                    throw DataLoaderError.transport(reason: answered.error)
                }
                let pieces = AsyncThrowingStream {
                    let piece = try await socket.receive()
                    return piece.isEmpty ? nil : piece
                }
                return PeerResponse(answered.head(status), pieces: pieces)
            }
        }
    }

    func serveSiblings(at path: String, with loader: DataLoader) throws -> FrameListener {
        try FrameListener(at: path) { socket in
            let asked = try await JSONDecoder().decode(Asked.self, from: socket.receive())
            var answered = Answered()
            var body = Data()
            do {
                let response = try await loader.response(for: asked.request)
                answered.status = response.statusCode?.rawValue
                answered.fields = response.headers.fields
                    .filter { !$0.name.lowercased().hasPrefix("content-") }
                    .map { [$0.name, $0.value] }
                body = response.body ?? Data()
            } catch let error as DataLoaderError {
                answered.error = error.name
            }
            try await socket.send(JSONEncoder().encode(answered))
            while !body.isEmpty {
                try await socket.send(body.prefix(FrameSocket.maxFrame))
                body = body.dropFirst(FrameSocket.maxFrame)
            }
            try await socket.send(Data())
        }
    }

    extension Asked {
        init(_ request: TransportRequest) throws {
            method = request.method.rawValue
            url = request.url
            fields = request.headers.fields.map { [$0.name, $0.value] }
            switch request.body {
            case nil: body = nil
            case .data(let bytes): body = bytes
            default:
                throw TransportFailure(
                    .unsupported(reason: "a body that is not in memory"), sent: .nothingWritten)
            }
        }

        var request: DataLoaderRequest {
            var request = DataLoaderRequest(url: url)
            request.method = HTTPMethod(rawValue: method)
            for field in fields where field.count == 2 {
                request.headers.add(field[1], for: field[0])
            }
            request.body = body.map { .data($0) }
            return request
        }
    }

    extension Answered {
        func head(_ status: Int) -> DataLoading.ResponseHead {
            var head = DataLoading.ResponseHead(status: HTTPStatus(rawValue: status))
            for field in fields where field.count == 2 { head.headers.add(field[1], for: field[0]) }
            return head
        }
    }

    extension SocketTests {
        /// Sibling daemons over a Unix-domain socket.
        @Suite struct PeerSamples {
            private static func sibling(_ path: String) -> DataLoader {
                var configuration = DataLoaderService.Configuration()
                configuration.transport = SiblingTransport(path: path).makeTransport()
                // Its tasks may wait for a thread among all the tests.
                configuration.timeouts.idle = .seconds(1_800)
                configuration.timeouts.total = .seconds(1_800)
                return DataLoaderService(configuration: configuration).makeFactory()
                    .makeDataLoader()
            }

            @Test func `the sample of siblings shares the loads of one fetcher`() async throws {
                let directory = TemporaryDirectory()
                let path = directory.url("fetcher").path
                let body = patternBytes(300_000)
                let bed = TestBed(
                    [
                        .respond(
                            status: 200, headers: ["Content-Length": "300000", "X-A": "b"],
                            body: body),
                        .respond(status: 404, body: Data("no".utf8)),
                        .fail(.certificate(reason: "expired")),
                    ])
                let listener = try serveSiblings(at: path, with: bed.loader)
                defer { listener.stop() }
                var request = DataLoaderRequest.make("/feed")
                request.method = .post
                request.headers["X-Own"] = "1"
                request.body = .data(Data("query".utf8))
                let first = try await Self.sibling(path).response(for: request)
                #expect(first.error == nil)
                #expect(first.body == body)
                #expect(first.headers["X-A"] == "b")
                let sent = bed.transport.attempts[0].request
                #expect(sent.method == .post)
                #expect(sent.headers["X-Own"] == "1")
                #expect(sent.body?.bytes == Data("query".utf8))
                let second = try await Self.sibling(path).response(for: .make())
                #expect(second.error == .status(.notFound))
                #expect(second.body == Data("no".utf8))
                await #expect(throws: DataLoaderError.transport(reason: "certificate")) {
                    try await Self.sibling(path).response(for: .make())
                }
            }

            @Test func `a sibling without a fetcher, or one that dies, gets a typed error`()
                async throws
            {
                let directory = TemporaryDirectory()
                let path = directory.url("fetcher").path
                await #expect(throws: DataLoaderError.connectRefused) {
                    try await Self.sibling(path).response(for: .make())
                }
                let dying = try FrameListener(at: path) { socket in
                    _ = try await socket.receive()
                    try await socket.send(JSONEncoder().encode(Answered(status: 200)))
                    try await socket.send(Data("half".utf8))
                }
                await #expect(throws: DataLoaderError.connectionReset) {
                    try await Self.sibling(path).response(for: .make())
                }
                dying.stop()
                let flooding = try FrameListener(at: path) { socket in
                    _ = try await socket.receive()
                    try await socket.send(Data(count: FrameSocket.maxFrame + 1))
                }
                defer { flooding.stop() }
                await #expect(throws: DataLoaderError.framing(reason: "a frame of 65537 bytes")) {
                    try await Self.sibling(path).response(for: .make())
                }
            }

            @Test func `a sibling whose fetcher is silent is cancelled at once`() async throws {
                let directory = TemporaryDirectory()
                let path = directory.url("fetcher").path
                let asked = EventRecorder<Void>()
                let isGone = EventRecorder<Void>()
                let silent = try FrameListener(at: path) { socket in
                    _ = try await socket.receive()
                    asked.record(())
                    // The sibling sends nothing more: this waits for its end.
                    _ = try? await socket.receive()
                    isGone.record(())
                }
                defer { silent.stop() }
                let loader = Self.sibling(path)
                let task = Task { try await loader.response(for: .make()) }
                _ = await asked.first(1)
                task.cancel()
                await #expect(throws: DataLoaderError.cancelled) { try await task.value }
                _ = await isGone.first(1)
            }
        }
    }
#endif
