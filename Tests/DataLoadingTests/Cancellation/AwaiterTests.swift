// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Every function that awaits a load returns when the load ends, however it ends.
@Suite(.timeLimit(.minutes(10))) struct AwaiterTests {
    @Test(arguments: Awaiter.allCases)
    func `a cancelled task ends its load and returns, whatever it awaits`(
        awaiter: Awaiter
    ) async {
        let bed = TestBed()
        let task = Task { try await awaiter.load(bed.loader) }
        let attempt = await bed.attempt(0)
        task.cancel()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error.map(isCancellation) == true)
        await attempt.waitUntilCancelled()
        bed.expectNothingLeft()
    }

    @Test(arguments: Awaiter.allCases)
    func `a task returns when its loader or its service ends the load`(awaiter: Awaiter) async {
        for isInvalidated in [false, true] {
            let bed = TestBed()
            let task = Task { try await awaiter.load(bed.loader) }
            _ = await bed.attempt(0)
            if isInvalidated {
                bed.service.invalidateAndCancel()
            } else {
                bed.loader.cancelAllLoads()
            }
            await #expect(throws: DataLoaderError.cancelled) { try await task.value }
            bed.expectNothingLeft()
        }
    }

    @Test(arguments: AwaiterStage.allCases, Awaiter.allCases)
    func `a cancelled task returns at every stage of its load, and leaves nothing`(
        stage: AwaiterStage, awaiter: Awaiter
    ) async throws {
        guard stage.happens(to: awaiter) else { return }
        let scene = try AwaiterScene(stage)
        await scene.prepare()
        let task = Task { try await awaiter.load(scene.bed.loader, scene.request) }
        await scene.reach()
        task.cancel()
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error.map(isCancellation) == true)
        await scene.letGo()
        scene.bed.expectNothingLeft()
    }

    @Test(arguments: Awaiter.allCases)
    func `a task that is cancelled before it begins returns and sends nothing`(
        awaiter: Awaiter
    ) async {
        let bed = TestBed()
        let gate = EventRecorder<Void>()
        let task = Task {
            _ = await gate.first(1)
            try await awaiter.load(bed.loader)
        }
        task.cancel()
        gate.record(())
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error.map(isCancellation) == true)
        bed.expectNothingLeft()
    }
}
