// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingAuth
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// A loader that is released ends its loads, whatever they wait for.
        @Suite struct DroppedLoaderTests {
            @Test(arguments: DropScene.Stage.allCases)
            func `a dropped loader closes its socket within 100 ms and calls no delegate`(
                stage: DropScene.Stage
            ) async throws {
                let usual = try await usually {
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
                #expect(usual.keeps(.milliseconds(100)), "\(usual)")
            }

            @Test(.timeLimit(.minutes(15)))
            func `dropped loaders leave no descriptor, no thread and no object behind`() async {
                await #expect(processExitsWith: .success) {
                    try await DropScene.playEveryStage()
                    let descriptors = ProcessFigures.descriptors
                    for _ in 0..<3 {
                        try await DropScene.playEveryStage()
                    }
                    // Threads and descriptors may take longer to close on a busy machine.
                    for _ in 0..<30_000
                    where ProcessFigures.descriptors > descriptors
                        || ProcessFigures.loopThreads > 0
                    { usleep(2_000) }
                    guard ProcessFigures.descriptors <= descriptors else { exit(3) }
                    guard ProcessFigures.loopThreads == 0 else { exit(4) }
                }
            }
        }
    }
#endif
