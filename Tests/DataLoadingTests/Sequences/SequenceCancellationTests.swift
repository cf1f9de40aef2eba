// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct SequenceCancellationTests {
    /// A tenth under a sanitizer, where each takes several times as long.
    private static let pairs = 10_000 / patience

    @Test func `every reader that is started and cancelled ends and leaves nothing`() async {
        let bed = TestBed(
            otherwise: .run { attempt in
                // The stream ends, breaks or stays open.
                attempt.sendEvents("data: a\n\n")
                switch attempt.request.url.lastPathComponent {
                case "0": attempt.end()
                case "1": attempt.fail(.connectionReset, sent: .headReceived)
                default: break
                }
            })
        var ended = 0
        for number in 0..<Self.pairs {
            let request = DataLoaderRequest.make("/\(number % 3)")
            let loader = bed.loader
            let reading = Task {
                switch number % 4 {
                case 0: for try await _ in loader.lines(for: request) {}
                case 1: for try await _ in loader.bytes(for: request) {}
                default: for try await _ in loader.events(for: request) {}
                }
            }
            // A few have time to get to their pause or to wait for the rest of the body.
            for _ in 0..<(number % 7) { await Task.yield() }
            reading.cancel()
            _ = await reading.result
            ended += 1
        }
        #expect(ended == Self.pairs)
        #expect(bed.service.runtime.contexts.pauses.isEmpty)
        bed.expectNothingLeft()
    }
}
