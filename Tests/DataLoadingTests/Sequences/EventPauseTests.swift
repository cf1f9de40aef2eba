// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// What ends the pause before an event stream is loaded again.
@Suite struct EventPauseTests {
    private let scene = EventScene([.fail(.connectRefused)])

    /// Starts to read, and returns once the pause has begun.
    private func pausedReading() async -> Task<(any Error)?, Never> {
        let reading = scene.read()
        _ = await scene.pause()
        return reading
    }

    private func expectEnd(
        _ reading: Task<(any Error)?, Never>, _ expected: DataLoaderError,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await reading.value as? DataLoaderError
        #expect(error == expected, sourceLocation: sourceLocation)
        #expect(error?.context?.url == "http://origin.test/", sourceLocation: sourceLocation)
        #expect(scene.bed.transport.attempts.count == 1, sourceLocation: sourceLocation)
        #expect(scene.bed.service.runtime.contexts.pauses.isEmpty, sourceLocation: sourceLocation)
        scene.bed.expectNothingLeft(sourceLocation: sourceLocation)
    }

    @Test func `cancelling the task ends a pause at once`() async {
        let reading = await pausedReading()
        reading.cancel()
        await expectEnd(reading, .cancelled)
    }

    @Test func `cancelling the loads of the loader ends a pause at once`() async {
        let reading = await pausedReading()
        scene.bed.loader.cancelAllLoads()
        await expectEnd(reading, .cancelled)
    }

    @Test func `cancelling the loads of the service ends a pause at once`() async {
        let reading = await pausedReading()
        scene.bed.service.cancelAllLoads()
        await expectEnd(reading, .cancelled)
    }

    @Test func `invalidating the service ends a pause at once`() async {
        let reading = await pausedReading()
        scene.bed.service.invalidateAndCancel()
        await expectEnd(reading, .cancelled)
    }

    @Test func `a shut-down ends a pause when it begins`() async {
        let reading = await pausedReading()
        // A load that runs for the whole grace period.
        let load = scene.bed.loader.perform(.make("/slow"))
        _ = await scene.bed.attempt(1)
        let shutDown = Task { await scene.bed.service.shutDown(gracePeriod: .seconds(5)) }
        #expect(await reading.value as? DataLoaderError == .cancelled)
        load.cancel()
        _ = await shutDown.value
        scene.bed.expectNothingLeft()
    }

    @Test func `a reset of the factory ends a pause at once`() async {
        let reading = await pausedReading()
        await scene.bed.factory.reset()
        await expectEnd(reading, .reset)
    }

    @Test func `a reset of the service ends a pause at once`() async {
        let reading = await pausedReading()
        await scene.bed.service.reset()
        await expectEnd(reading, .reset)
    }

    @Test func `a pause does not begin in a service that is shut down`() async {
        let scene = EventScene()
        let reading = scene.read()
        let attempt = await scene.bed.attempt(0)
        // The stage is set before the loads are cancelled; the stream breaks in between.
        scene.bed.service.runtime.openness.withLock { $0.stage = .closing }
        attempt.fail(.connectRefused)
        #expect(await reading.value as? DataLoaderError == .serviceInvalidated)
        scene.bed.expectNothingLeft()
    }
}
