// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MetricRegistry {
    /// Adds what a log has dropped, and how often its file could not be opened again.
    func observe(_ logger: AccessLogger) {
        add { [weak logger] visitor in
            guard let logger else { return }
            visitor.begin(.logDropped)
            visitor.add(.whole(Int64(logger.counts.dropped)), DropLabels(signal: .logs))
            visitor.begin(.logReopenFailures)
            visitor.add(.whole(Int64(logger.counts.failedReopenings)), NoLabels())
        }
    }
}
