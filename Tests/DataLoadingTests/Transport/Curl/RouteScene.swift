// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    /// Servers that choose on each connection whether they speak HTTP/2, and attempts to them.
    struct RouteScene {
        let trust: TrustScene

        init() throws {
            trust = try TrustScene()
        }

        static let echo = LoopbackScript.serve(LoopbackHandler { .ok("\($0.target)") })

        /// Makes a server that agrees to HTTP/2 on connections with certain numbers.
        func server(
            _ script: LoopbackScript, isHTTP2: @escaping @Sendable (Int) -> Bool
        ) throws -> LoopbackServer {
            try trust.peer(script, isHTTP2: isHTTP2)
        }

        func attempt(
            _ server: LoopbackServer, _ path: String = "", _ http2: HTTP2Use = .always
        ) throws -> TransportRequest {
            var attempt = TransportRequest(
                url: testURL("https://a.origin.test:\(server.port)/\(path)"))
            attempt.address = "127.0.0.1:\(server.port)"
            attempt.serverTrustPolicy = try trust.policy()
            attempt.http2 = http2
            // What a test limits has a limit of its own: a busy machine takes its time.
            attempt.connectTimeout = .seconds(3_600)
            return attempt
        }

        /// Runs a number of attempts at once, and returns how they ended.
        func burst(
            _ count: Int, _ transport: CurlTransport, _ server: LoopbackServer
        ) async throws -> [AttemptRecorder.Record] {
            let attempts = try (0..<count).map { try attempt(server, "\($0)") }
            return await withTaskGroup(of: AttemptRecorder.Record.self) { group in
                for attempt in attempts { group.addTask { await transport.run(attempt) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
    }
#endif
