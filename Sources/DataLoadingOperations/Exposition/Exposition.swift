// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The metrics as text, for an HTTP server to send.
public struct Exposition: Sendable {
    /// The value of `Content-Type`: Prometheus' text 0.0.4, or OpenMetrics 1.0.
    public let contentType: String
    /// The text, in UTF-8.
    public let body: Data

    /// Writes the metrics in the format that an `Accept` field prefers.
    init(_ registry: MetricRegistry, accepting accept: String?) {
        let format = ExpositionFormat(accepting: accept)
        contentType = format.contentType
        body = Data(registry.text(in: format))
    }
}

extension MetricRegistry {
    /// The metrics of now as text.
    func text(in format: ExpositionFormat) -> [UInt8] {
        switch format {
        case .prometheus:
            let writer = PrometheusWriter(names)
            visit(writer)
            return writer.bytes
        case .openMetrics:
            let writer = OpenMetricsWriter(names)
            visit(writer)
            return writer.bytes
        }
    }
}
