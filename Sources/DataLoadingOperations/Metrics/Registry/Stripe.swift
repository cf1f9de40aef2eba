// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What is under one of the registry's locks: a part of the series of each instrument.
///
/// A label set belongs to one stripe only: a scrape adds up nothing but what found no room.
struct Stripe: Sendable {
    var requestDuration: SeriesTable<AttemptLabels, HistogramCell>
    var activeRequests: SeriesTable<ActiveLabels, NumberCell>
    var loadDuration: SeriesTable<LoadLabels, HistogramCell>
    var loadWaitDuration: SeriesTable<WaitLabels, HistogramCell>
    var retries: SeriesTable<RetryLabels, NumberCell>
    var networkIO: SeriesTable<TrafficLabels, NumberCell>

    /// Makes stripes, whose instruments have at most so many series together.
    static func make(_ count: Int, maxSeries: Int) -> [Stripe] {
        let stripe = Stripe(
            requestDuration: SeriesTable(of: .requestDuration, maxSeries),
            activeRequests: SeriesTable(of: NumberCell(), limit: SeriesLimit(maxSeries)),
            loadDuration: SeriesTable(of: .loadDuration, maxSeries),
            loadWaitDuration: SeriesTable(of: .loadWaitDuration, maxSeries),
            retries: SeriesTable(of: NumberCell(), limit: SeriesLimit(maxSeries)),
            networkIO: SeriesTable(of: NumberCell(), limit: SeriesLimit(maxSeries)))
        return Array(repeating: stripe, count: count)
    }
}

extension SeriesTable where Cell == HistogramCell {
    fileprivate init(of family: MetricFamily, _ maxSeries: Int) {
        self.init(of: HistogramCell(bounds: family.bounds), limit: SeriesLimit(maxSeries))
    }
}
