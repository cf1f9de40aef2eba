// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Testing

/// The durations of a store's operations, in a bounded number of series.
@Suite struct StoreOperationsTests {
    private func kind(_ server: String?, error: String? = nil) -> StoreOperations.Kind {
        StoreOperations.Kind(
            command: "EVALSHA", script: "lease",
            server: server.map { StoreOperations.Server(address: $0, port: 6_379) }, error: error)
    }

    @Test func `a duration counts up to its bound, and in the sum`() {
        var operations = StoreOperations()
        let durations: [Duration] = [
            .zero, .milliseconds(1), .microseconds(1_001), .seconds(10), .seconds(11), .seconds(-1),
        ]
        for duration in durations { operations.note(kind("a"), took: duration) }
        let series = operations.series[kind("a")]
        #expect(series?.counts == [3, 1, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(series?.sum == 21_002_001_000)
        #expect(StoreOperations.bounds.count == 9)
    }

    @Test func `operations are told apart by server and error`() {
        var operations = StoreOperations()
        operations.note(kind("a"), took: .zero)
        operations.note(kind("b"), took: .zero)
        operations.note(kind("a", error: "silent"), took: .zero)
        operations.note(kind("a"), took: .zero)
        #expect(operations.series.count == 3)
        #expect(operations.series[kind("a")]?.counts.first == 2)
    }

    @Test func `past the maximum of series servers are told no longer, and nothing is lost`() {
        var operations = StoreOperations()
        for number in 0..<1_000 {
            operations.note(kind("\(number)"), took: .zero)
            operations.note(kind("\(number)", error: "lost"), took: .zero)
        }
        #expect(operations.series.count == StoreOperations.maxSeries + 2)
        let all = operations.series.values.reduce(0) { $0 + $1.counts.reduce(0, +) }
        #expect(all == 2_000)
        // What has a series keeps it.
        operations.note(kind("0"), took: .zero)
        #expect(operations.series[kind("0")]?.counts.first == 2)
    }
}
