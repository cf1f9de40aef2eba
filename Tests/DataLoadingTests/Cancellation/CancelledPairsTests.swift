// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    @Suite(.timeLimit(.minutes(15))) struct CancelledPairsTests {
        /// 100,000, or ten times as many as `PROPERTY_CASES` in the environment says.
        private static let pairs = propertyCases * 10

        // In every other round the tasks are cancelled before their loads have begun, in the others when
        // they have begun or do: some are sent, and most wait for a slot.
        @Test func `a hundred thousand loads that are started and cancelled leave nothing`() async {
            let size = 500
            let rounds = max(2, Self.pairs / size)
            let gone = EventRecorder<Void>()
            for round in 0..<rounds {
                let bed = TestBed()
                let begun = EventRecorder<Void>()
                let tasks = (0..<size).map { index in
                    let awaiter = Awaiter.allCases[index % Awaiter.allCases.count]
                    return Task { [canary = Canary(gone)] in
                        begun.record(())
                        try await awaiter.load(bed.loader, .make(), canary)
                    }
                }
                if round % 2 == 0 {
                    _ = await begun.first(size)
                    bed.settle()
                }
                for task in tasks { task.cancel() }
                for task in tasks {
                    if case .failure(let error) = await task.result, isCancellation(error) {
                        continue
                    }
                    Issue.record("A load that was cancelled ended in another way.")
                }
                bed.expectNothingLeft()
            }
            // What the loads retained of their callers is released.
            #expect(await gone.first(rounds * size).count == rounds * size)
        }
    }
}
