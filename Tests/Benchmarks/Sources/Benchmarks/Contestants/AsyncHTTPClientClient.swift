// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if BENCHMARK_PEERS
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL

    /// AsyncHTTPClient with its async interface and the better number of event loops.
    final class AsyncHTTPClientClient: SingleClient {
        private let client: HTTPClient
        private let request: HTTPClientRequest
        private let concurrency: Int

        init(_ workload: Workload) {
            concurrency = workload.concurrency
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
                max(concurrency, workload.idle?.count ?? 0)
            if let security = workload.security {
                configuration.httpVersion = security.version == .http2 ? .automatic : .http1Only
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.trustRoots = .file(security.authorities)
                configuration.tlsConfiguration = tls
            }
            // A second loop costs more than it gains while one load runs at a time.
            let loops = concurrency == 1 ? 1 : 2
            client = HTTPClient(
                eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: loops),
                configuration: configuration)
            var request = HTTPClientRequest(url: workload.url)
            request.headers.add(name: Workload.field.name, value: Workload.field.value)
            self.request = request
        }

        func hold(_ idle: Workload.Idle) {
            let request = HTTPClientRequest(url: idle.url)
            for _ in 0..<idle.count {
                Task { try? await client.execute(request, timeout: .hours(1)) }
            }
        }

        func run(_ requests: Int) async -> Int {
            await withTaskGroup(of: Int.self) { group in
                for index in 0..<concurrency {
                    let share = (requests + index) / concurrency
                    group.addTask { await self.load(share) }
                }
                return await group.reduce(0, +)
            }
        }

        private func load(_ count: Int) async -> Int {
            var failures = 0
            for _ in 0..<count where await !loadOne() { failures += 1 }
            return failures
        }

        func loadOne() async -> Bool {
            do {
                let response = try await client.execute(request, timeout: .seconds(60))
                let body = try await response.body.collect(upTo: 33_554_432)
                return response.status == .ok && body.readableBytes > 0
            } catch {
                return false
            }
        }
    }
#endif
