// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Counts the spans and data points that the collector did not take.
final class TelemetryDrops: Sendable {
    private let counts = Locked<[DropSignal: Int64]>([:])

    func add(_ count: Int, of signal: DropSignal) {
        guard count > 0 else { return }
        counts.withLock { $0[signal, default: 0].addSaturated(Int64(count)) }
    }

    func count(of signal: DropSignal) -> Int64 { counts.withLock { $0[signal] ?? 0 } }
}

extension MetricRegistry {
    /// Adds what a collector did not take.
    func observe(_ drops: TelemetryDrops) {
        add { visitor in
            visitor.begin(.telemetryDropped)
            for signal in [DropSignal.traces, .metrics] {
                visitor.add(.whole(drops.count(of: signal)), DropLabels(signal: signal))
            }
        }
    }
}
