// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Testing

// The samples of the article about shutting down.

private func startFeatures() {}

/// Compiled but not run, because SIGTERM belongs to the whole process.
func runUntilSignal(_ service: DataLoaderService) async {
    await service.run(gracePeriod: .seconds(5)) {
        startFeatures()
    }
}

@Suite struct ShutDownSamples {
    @Test func `a load is refused as soon as a shut-down has begun`() async {
        let bed = TestBed()
        let service = bed.service
        let load = Task { try await bed.loader.response(for: .make("/held")) }
        _ = await bed.attempt(0)
        let shutDown = Task { await service.shutDown(gracePeriod: .seconds(5)) }
        await bed.clock.waitForAlarms(1, within: .seconds(5))
        await #expect(throws: DataLoaderError.serviceInvalidated) {
            try await bed.loader.response(for: .make("/late"))
        }
        bed.clock.advance(by: .seconds(5))
        await #expect(throws: DataLoaderError.cancelled) { try await load.value }
        _ = await shutDown.value
    }
}
