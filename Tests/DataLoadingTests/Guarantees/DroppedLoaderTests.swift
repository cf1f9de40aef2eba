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
                let limit = Duration.milliseconds(100) * patience
                let time = try await fastest(within: limit) {
                    let scene = try await DropScene(stage)
                    let begun = ContinuousClock.now
                    scene.dropLoader()
                    let entry = await scene.ending()
                    if stage.hasConnection { _ = await scene.server.waitForClosedConnections(1) }
                    let time = ContinuousClock.now - begun
                    #expect(entry?.response.error == .cancelled)

                    try await scene.loadSentinel()
                    #expect(scene.server.requests.map(\.target) == stage.targets + ["/sentinel"])
                    #expect(scene.observer.entries.count { $0.response.error != nil } == 1)
                    #expect(scene.delegate.events.allSatisfy { !$0.isTerminal })
                    await scene.service.shutDown(gracePeriod: .zero)
                    return time
                }
                #expect(time < limit)
            }

            @Test(.timeLimit(.minutes(5)))
            func `leaves no descriptor, no thread and no object behind`() async {
                await #expect(processExitsWith: .success) {
                    try await DropScene.playEveryStage()
                    let descriptors = ProcessFigures.descriptors
                    for _ in 0..<3 {
                        try await DropScene.playEveryStage()
                    }
                    // What has ended may take its time to go; what is left stays.
                    let end = ContinuousClock.now + .seconds(20)
                    await eventually {
                        ContinuousClock.now > end
                            || ProcessFigures.descriptors <= descriptors
                                && ProcessFigures.loopThreads == 0
                    }
                    guard ProcessFigures.descriptors <= descriptors else { exit(3) }
                    guard ProcessFigures.loopThreads == 0 else { exit(4) }
                }
            }
        }
    }
#endif
