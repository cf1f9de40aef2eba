// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct LoadMetricsTests {
    @Test(arguments: [[], ["a"], ["a", "b"], ["a", "b", "c"], [""], ["", "b"]])
    func `metrics keep their addresses in order`(addresses: [String]) {
        var metrics = LoadMetrics()
        metrics.addresses = addresses
        #expect(metrics.addresses == addresses)
        var others = LoadMetrics()
        others.addresses = addresses + ["z"]
        #expect(metrics != others)
        others.addresses.removeLast()
        #expect(metrics == others)
        #expect(metrics.hashValue == others.hashValue)
    }

    @Test func `metrics note each address once, and thirty-two at most`() {
        var metrics = LoadMetrics()
        for _ in 0..<2 {
            for number in 0..<40 { metrics.note("10.0.0.\(number)") }
        }
        #expect(metrics.addresses == (0..<32).map { "10.0.0.\($0)" })
    }

    @Test func `what was counted for a response does not change when the load counts on`() {
        var draft = DataLoaderResponse.Draft(.make(), number: 7)
        draft.count { $0.attempts = 1 }
        let first = draft.response(nil, nil, nil)
        draft.count { $0.attempts = 2 }
        #expect(first.metrics.attempts == 1)
        #expect(first.metrics.load == 7)
        #expect(draft.response(nil, nil, nil).metrics.attempts == 2)
    }
}
