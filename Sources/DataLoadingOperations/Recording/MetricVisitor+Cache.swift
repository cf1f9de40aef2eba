// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache

extension MetricVisitor {
    /// Adds what the cache did, and how much it holds.
    func add(_ cache: CacheStatistics) {
        let numbers: [(MetricFamily, Int)] = [
            (.cacheHits, cache.hits), (.cacheValidated, cache.validated),
            (.cacheMisses, cache.misses), (.cacheSize, cache.bytes),
            (.cacheEvictions, cache.evicted), (.cacheWriteFailures, cache.writeFailures),
        ]
        for (family, number) in numbers {
            begin(family)
            add(.whole(Int64(number)), NoLabels())
        }
    }
}
