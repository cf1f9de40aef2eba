// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension MetricVisitor {
    /// Adds how long the operations of a store took.
    func add(_ operations: StoreOperations, of system: String) {
        guard !operations.series.isEmpty else { return }
        begin(.storeDuration)
        for (kind, durations) in operations.series {
            add(
                HistogramCell(
                    bounds: StoreOperations.bounds, counts: durations.counts, sum: durations.sum),
                StoreLabels(system: system, kind: kind))
        }
    }
}
