// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Promise 2: a loader that is dropped ends its loads, whatever they wait for.
        @Suite struct DroppedLoaderTests {
            // SP-01, SP-07, LC-05
            @Test(arguments: DropScene.Stage.allCases)
            func `closes the socket within 100 ms and is never heard of again`(
                stage: DropScene.Stage
            ) async throws {
                var fastest = Duration.seconds(1_000)
                // A busy machine may be late; the promise is about what the library adds.
                for _ in 0..<5 where fastest >= .milliseconds(100) * patience {
                    let scene = try await DropScene(stage)
                    let begun = ContinuousClock.now
                    scene.dropLoader()
                    let entry = await scene.ending()
                    if stage.hasConnection { _ = await scene.server.waitForClosedConnections(1) }
                    fastest = min(fastest, ContinuousClock.now - begun)
                    #expect(entry?.response.error == .cancelled)

                    try await scene.loadSentinel()
                    #expect(scene.server.requests.map(\.target) == stage.targets + ["/sentinel"])
                    #expect(scene.observer.entries.count { $0.response.error != nil } == 1)
                    #expect(scene.delegate.events.allSatisfy { !$0.isTerminal })
                    await scene.service.shutDown(gracePeriod: .zero)
                }
                #expect(fastest < .milliseconds(100) * patience)
            }

            @Test(.timeLimit(.minutes(1)))
            func `leaves no descriptor, no thread and no object behind`() async {
                await #expect(processExitsWith: .success) {
                    try await DropScene.playEveryStage()
                    let descriptors = ProcessFigures.descriptors
                    for _ in 0..<3 {
                        try await DropScene.playEveryStage()
                    }
                    guard ProcessFigures.descriptors <= descriptors else { exit(3) }
                    // A thread that was joined may stand in the list for a moment yet.
                    guard ProcessFigures.loopThreads <= 1 else { exit(4) }
                }
            }
        }
    }
#endif
