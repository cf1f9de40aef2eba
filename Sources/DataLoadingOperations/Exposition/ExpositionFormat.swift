// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A text format in which Prometheus and its kin read metrics.
enum ExpositionFormat: Hashable, Sendable, CaseIterable {
    /// Prometheus' text, version 0.0.4.
    case prometheus
    /// OpenMetrics, version 1.0.
    case openMetrics

    /// The value of `Content-Type`, whose names are escaped by underscores.
    var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
        case .openMetrics:
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores"
        }
    }
}
