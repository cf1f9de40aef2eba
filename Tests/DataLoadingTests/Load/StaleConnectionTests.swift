// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SocketTests {
    /// Pooled connections that are closed by their server, as after a restart behind a balancer.
    @Suite struct StaleConnectionTests {
        // Several stale connections at once.
        @Test(arguments: [LoopbackStep.reset, .close])
        func `one retry is enough however many connections are stale`(end: LoopbackStep)
            async throws
        {
            let kept = 6
            let areThere = LoopbackGate()
            let server = try LoopbackServer { request in
                request.isOnReusedConnection
                    ? .steps(end) : .ok("fresh").preceded(by: .wait(for: areThere))
            }
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<kept {
                    group.addTask {
                        _ = try await loader.response(for: DataLoaderRequest(url: server.url()))
                    }
                }
                await server.waitForHeads(kept)
                areThere.open()
                try await group.waitForAll()
            }
            var request = DataLoaderRequest(url: server.url())
            request.retryPolicy = .immediately(maximumRetries: 1)
            let response = try await loader.response(for: request)
            #expect(response.body == Data("fresh".utf8))
            #expect(response.metrics.attempts == 2)
            #expect(response.metrics.retries == 0)
            await service.shutDown(gracePeriod: .zero)
        }

        // libcurl counts stale connections over the life of a handle and fails at the sixth.
        @Test func `any number of stale connections are replaced, one for each load`()
            async throws
        {
            let server = try LoopbackServer { request in
                request.isOnReusedConnection ? .steps(.close) : .ok("fresh")
            }
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            for round in 0..<14 {
                let response = try await loader.response(
                    for: DataLoaderRequest(url: server.url()))
                #expect(response.metrics.attempts == (round == 0 ? 1 : 2))
                #expect(response.metrics.replacedConnections == (round == 0 ? 0 : 1))
            }
            #expect(server.requestCount == 27)
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
