// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A process without free descriptors, which is no fault of any address.
        @Suite struct ExhaustionMatrix {
            // The load is retried for any method and succeeds once there are descriptors.
            @Test
            func
                `a load without descriptors ends as out of resources, ejects no address and recovers`()
                async
            {
                await #expect(processExitsWith: .success) {
                    let cells = FaultAxes.plainFirst.cells
                    try #require(cells.count == 4)
                    for cell in cells { try await Self.play(cell) }
                }
            }

            private static func play(_ cell: FaultCell) async throws {
                let server = try LoopbackServer { _ in
                    .ok("fine", headers: ["Connection": "close"])
                }
                let address = "127.0.0.1:\(server.port)"
                var configuration = DataLoaderService.Configuration()
                let transport = CurlTransport(loops: .ofTests, lookup: { _ in .unknown })
                configuration.transport = transport
                configuration.retry.timer = ExponentialTimer(
                    initialTime: .milliseconds(1), maxTime: .milliseconds(1), jitter: .none)
                let service = DataLoaderService(configuration: configuration)
                service.resolver.setAddresses([address], forHost: FaultScene.host)
                let delegate = RecordingDelegate(supportsChunks: true)
                let loader = service.makeFactory().makeDataLoader(
                    delegate: delegate, delivery: .ofTests)
                var request = DataLoaderRequest(
                    url: testURL("http://\(FaultScene.host):\(server.port)/"))
                request.method = HTTPMethod(rawValue: cell.method.rawValue)
                request.chunks = !cell.isWhole
                request.maximumRetryCount = 1
                if cell.isPost { request.body = .data(Data("a body".utf8)) }

                loader.perform(request)
                let before = await delegate.outcomes(1)[0]
                try #require(before.response?.error == nil)
                _ = await server.waitForClosedConnections(1)
                // The loop has closed its end too when it answers.
                await transport.reset()

                let taken = try TakenDescriptors()
                loader.perform(request)
                let without = await delegate.outcomes(2)[1]
                taken.giveBack()
                try #require(without.response?.error?.isResources == true)
                try #require(without.response?.metrics.attempts == 2)
                try #require(server.requestCount == 1)
                try #require(service.resolver.address(forHost: FaultScene.host) == address)

                loader.perform(request)
                let after = await delegate.outcomes(3)[2]
                try #require(after.response?.error == nil)
                try #require(delegate.events.filter(\.isTerminal).count == 3)
                await service.shutDown(gracePeriod: .zero)
                server.stop()
            }
        }
    }
#endif
