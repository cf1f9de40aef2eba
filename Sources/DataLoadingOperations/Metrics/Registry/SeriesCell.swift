// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What one series of an instrument holds.
protocol SeriesCell: Sendable {
    /// Adds what another cell of the instrument holds.
    mutating func add(_ other: Self)
    /// Tells a visitor.
    func visit(_ visitor: any MetricVisitor, _ labels: any LabelSet)
}

extension HistogramCell: SeriesCell {
    func visit(_ visitor: any MetricVisitor, _ labels: any LabelSet) {
        visitor.add(self, labels)
    }
}

extension NumberCell: SeriesCell {
    mutating func add(_ other: NumberCell) { add(other.number) }

    func visit(_ visitor: any MetricVisitor, _ labels: any LabelSet) {
        visitor.add(.whole(number), labels)
    }
}
