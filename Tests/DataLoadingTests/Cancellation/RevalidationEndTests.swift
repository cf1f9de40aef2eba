// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// No caller can cancel a load that validates a stale response in the background.
@Suite(.timeLimit(.minutes(5))) struct RevalidationEndTests {
    enum Ender: CaseIterable, Sendable {
        case factoryReset, serviceReset, cancelAll, invalidation, shutDown

        func end(_ bed: TestBed) async {
            switch self {
            case .factoryReset: await bed.factory.reset()
            case .serviceReset: await bed.service.reset()
            case .cancelAll: bed.service.cancelAllLoads()
            case .invalidation: bed.service.invalidateAndCancel()
            case .shutDown: await bed.service.shutDown(gracePeriod: .zero)
            }
        }
    }

    @Test(arguments: Ender.allCases)
    func `a validation in the background ends with its service and leaves nothing`(
        ender: Ender
    ) async throws {
        let bed = CacheBed().bed(
            [fresh("old", ["Cache-Control": "stale-while-revalidate=600"], maxAge: 1)],
            otherwise: .hold)
        _ = try await bed.loader.response(for: .make())
        bed.advance(.seconds(5))
        let task = Task { try await bed.loader.response(for: .make()) }
        #expect(text(try await task.value) == "old")
        let background = await bed.attempt(1)
        // The caller has its answer, and the background load is not the caller's.
        task.cancel()
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(!background.isCancelled)
        await ender.end(bed)
        await background.waitUntilCancelled()
        bed.expectNothingLeft()
    }
}
