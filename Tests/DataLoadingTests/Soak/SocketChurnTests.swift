// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Owners that are released with loads on the wire.
        ///
        /// 2,000 loaders and 200 services, or 100,000 and 10,000 with `DATALOADING_SOAK=1`, in a
        /// process of its own.
        @Suite struct SocketChurnTests {
            private static let isLong =
                ProcessInfo.processInfo.environment["DATALOADING_SOAK"] == "1"
            private static let scale = isLong ? 50 : 1

            @Test(.timeLimit(.minutes(30)))
            func `owners that are released during transfers leave no socket, thread or object`()
                async
            {
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) {
                    let seed: UInt64 = 20_260_101
                    var generator = SeededGenerator(seed: seed)
                    let start = SocketFootprint()
                    _ = try await Self.play(loaders: 200, services: 50, &generator)
                    var before = await SocketFootprint.settled(
                        within: start.withRoom, moreThreads: 0)
                    // Dispatch keeps idle threads for a while; only the long run waits for them.
                    if Self.isLong { before.threads = start.threads }
                    let begun = ContinuousClock.now
                    let (rest, connections) = try await Self.play(
                        loaders: 2_000 * Self.scale, services: 200 * Self.scale, &generator)
                    let after = await SocketFootprint.settled(within: before, moreThreads: 2)
                    ChildReport.tell(
                        "churn: seed \(seed), \(2_000 * Self.scale) loaders and",
                        "\(200 * Self.scale) services on \(connections) connections in",
                        "\(ContinuousClock.now - begun)\nbefore: \(before)\nat the end: \(rest)",
                        "\nafter: \(after)\nresident: \(ProcessFigures.residentBytes >> 20) MiB")
                    ChildReport.require(after.objects == 0, "\(after.objects) objects")
                    ChildReport.require(after.isWithin(before, moreThreads: 2), "left: \(after)")
                }
                ChildReport.check(result, begins: "churn:")
            }

            /// Returns what is left immediately, and the number of connections.
            private static func play(
                loaders: Int, services: Int, _ generator: inout SeededGenerator
            ) async throws -> (SocketFootprint, Int) {
                let churn = try SocketChurn()
                try await churn.loaders(loaders, &generator)
                try await churn.services(services, &generator)
                let connections = churn.connections
                churn.stop()
                return (SocketFootprint(), connections)
            }
        }
    }
#endif
