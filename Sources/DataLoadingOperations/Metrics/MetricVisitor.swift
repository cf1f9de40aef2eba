// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Receives the families of a scrape, each with its samples.
///
/// A source begins a family only if it has samples of it, and begins none twice.
protocol MetricVisitor: AnyObject {
    /// Begins a family, to which the samples that follow belong.
    func begin(_ family: MetricFamily)
    /// Adds a number of the family, with labels that no other sample of it has.
    func add(_ number: MetricNumber, _ labels: any LabelSet)
    /// Adds a histogram of the family, with labels that no other sample of it has.
    func add(_ histogram: HistogramCell, _ labels: any LabelSet)
}

/// The value of a counter or a gauge.
enum MetricNumber: Hashable, Sendable {
    case whole(Int64)
    case real(Double)
}

/// Tells a visitor of families that are read when somebody looks, such as gauges.
struct MetricSource: Sendable {
    let visit: @Sendable (any MetricVisitor) -> Void
}
