// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        @Suite(.leavesNothing) struct CancelledSocketPairsTests {
            /// 1,000, or a tenth of `PROPERTY_CASES` in the environment.
            private static let pairs = max(100, propertyCases / 10)

            // Some are cancelled at once, others after they have begun or have ended.
            @Test func `loads over sockets that are started and cancelled leave nothing`()
                async throws
            {
                let server = try LoopbackServer { request in
                    request.target.hasSuffix("0") ? .steps(.stall) : .ok(.pattern(10_000))
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                for number in 0..<Self.pairs {
                    let awaiter = Awaiter.allCases[number % Awaiter.allCases.count]
                    // What the server never answers is there until it is cancelled.
                    let waits = number % 10 == 0
                    let request = DataLoaderRequest(
                        url: server.url("/\(waits ? 0 : number % 3)"))
                    let task = Task { try await awaiter.load(loader, request) }
                    if waits {
                        await eventually { service.runtime.liveLoads.live > 0 }
                    }
                    for _ in 0..<(number % 7) { await Task.yield() }
                    task.cancel()
                    _ = await task.result
                }
                let left = await service.shutDown(gracePeriod: .zero)
                #expect(left.isEmpty)
                #expect(service.runtime.liveLoads.live == 0)
                #expect(loader.currentRequests.isEmpty)
                server.stop()
            }
        }
    }
#endif
