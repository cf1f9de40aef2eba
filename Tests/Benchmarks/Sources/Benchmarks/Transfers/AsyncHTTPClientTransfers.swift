// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if BENCHMARK_PEERS
    import AsyncHTTPClient
    import NIOCore
    import NIOPosix

    /// AsyncHTTPClient with its async interface, on one event loop.
    final class AsyncHTTPClientTransfers: TransferClient {
        private let client: HTTPClient

        init(streams: Int) {
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = streams
            client = HTTPClient(
                eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: 1),
                configuration: configuration)
        }

        func download(_ url: String, _ pace: Pace?) async throws -> Int {
            let start = ContinuousClock.now
            let response = try await client.execute(
                HTTPClientRequest(url: url), timeout: .minutes(10))
            var count = 0
            for try await buffer in response.body {
                count += buffer.readableBytes
                if let pace, try await !pace.wait(after: count, since: start) { break }
            }
            return count
        }

        func upload(_ file: String, of size: Int, to url: String) async throws {
            throw Complaint("AsyncHTTPClient's async interface reads no files")
        }
    }
#endif
