// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// What a scrape reads of a cache.
@Suite struct CacheMetricsTests {
    private let registry = MetricRegistry.make()

    @Test func `what the cache did is counted, and what it holds`() async throws {
        let bed = TestBed([fresh("body")]) { $0.cache = .memory() }
        registry.observe(bed.service)
        for _ in 0..<3 { _ = try await bed.loader.response(for: .make()) }
        #expect(registry.total("dataloading_cache_hits_total") == 2)
        #expect(registry.total("dataloading_cache_misses_total") == 1)
        #expect(registry.total("dataloading_cache_size_bytes") > 4)
        #expect(registry.total("dataloading_cache_evictions_total") == 0)
        #expect(registry.total("dataloading_cache_write_failures_total") == 0)
        let other = TestBed()
        let without = MetricRegistry.make()
        without.observe(other.service)
        #expect(!without.samples().contains { $0.name.hasPrefix("dataloading_cache") })
    }
}
