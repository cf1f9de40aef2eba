// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import Testing

@Suite struct LogSamplingTests {
    private static func keeps(
        _ load: Int64, oneIn: Int, _ error: DataLoaderError? = nil, time: Duration = .zero,
        bytesMoved: Bool = true
    ) -> Bool {
        var log = AccessLog(.json, to: .standardError)
        log.keepsOneIn = oneIn
        var response = DataLoaderResponse(request: .make(), error: error)
        response.metrics.load = load
        response.metrics.totalTime = time
        return LogSampling(log).keeps(response, bytesMoved: bytesMoved)
    }

    @Test func `every load has a line by default`() {
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: 1) })
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: -5) })
    }

    @Test func `one successful load in a hundred has a line, and always the same ones`() {
        let kept = (1...100_000).filter { Self.keeps($0, oneIn: 100) }
        #expect((900...1_100).contains(kept.count))
        #expect(kept == (1...100_000).filter { Self.keeps($0, oneIn: 100) })
        // Loads in rounds of a hundred: each place of a round is chosen about as often.
        let places = Set(kept.map { $0 % 100 })
        #expect(places.count == 100)
    }

    @Test func `failures, slow loads and cancelled ones that moved bytes always have a line`() {
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: .max, .dns, bytesMoved: false) })
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: .max, .status(.notFound)) })
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: .max, .cancelled) })
        #expect((1...1_000).allSatisfy { Self.keeps($0, oneIn: .max, time: .seconds(1)) })
        #expect(!(1...1_000).contains { Self.keeps($0, oneIn: .max, time: ms(999)) })
        #expect(
            !(1...1_000).contains { Self.keeps($0, oneIn: .max, .cancelled, bytesMoved: false) })
    }
}
