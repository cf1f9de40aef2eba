// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MetricRegistry {
    /// Tells a visitor of every family that has samples.
    func visit(_ visitor: any MetricVisitor) {
        let stripes = stripesNow
        Self.visit(.requestDuration, stripes.map(\.requestDuration), visitor)
        Self.visit(.activeRequests, stripes.map(\.activeRequests), visitor)
        Self.visit(.loadDuration, stripes.map(\.loadDuration), visitor)
        Self.visit(.loadWaitDuration, stripes.map(\.loadWaitDuration), visitor)
        Self.visit(.retries, stripes.map(\.retries), visitor)
        Self.visit(.networkIO, stripes.map(\.networkIO), visitor)
        for source in addedSources { source.visit(visitor) }
        ProcessUsage.now?.visit(visitor)
        visitor.begin(.buildInformation)
        visitor.add(.whole(1), BuildLabels())
        visitor.begin(.targetInformation)
        visitor.add(.whole(1), target)
    }

    private static func visit<Labels, Cell>(
        _ family: MetricFamily, _ tables: [SeriesTable<Labels, Cell>],
        _ visitor: any MetricVisitor
    ) {
        let series = tables.flatMap(\.series)
        let overflow = tables.compactMap(\.overflow)
        guard !series.isEmpty || !overflow.isEmpty else { return }
        visitor.begin(family)
        for (labels, cell) in series { cell.visit(visitor, labels) }
        guard var sum = overflow.first else { return }
        for cell in overflow.dropFirst() { sum.add(cell) }
        sum.visit(visitor, OverflowLabels())
    }
}
