// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations

extension MetricRegistry {
    /// A registry of a service under test, with labels for `api.test` and its ports 80 and 443.
    static func make(
        hosts: [String] = ["api.test"], maxSeries: Int = MetricRegistry.defaultMaxSeries
    ) -> MetricRegistry {
        MetricRegistry(
            target: TargetLabels(serviceName: "feeds", serviceVersion: "1.2", instance: "a"),
            hosts: HostTable(hosts), maxSeries: maxSeries)
    }

    /// Counts one of everything that a registry counts itself.
    func countEverything() {
        let host = hosts.label(forURL: "https://api.test/")
        attemptBegan(ActiveLabels(host: host, method: .get))
        attemptEnded(.make(host, 200), nanoseconds: 40_000_000)
        var load = LoadRecord(
            host: host, source: sources.label("feed"), outcome: .success, error: nil)
        load.duration = 50_000_000
        load.retries = 1
        loadEnded(load)
    }

    /// The samples of one name.
    func samples(named name: String) -> [ExpositionParser.Sample] {
        samples().filter { $0.name == name }
    }

    /// The samples of now, as a scraper reads them.
    func samples(in format: ExpositionFormat = .prometheus) -> [ExpositionParser.Sample] {
        ExpositionParser.samples(of: text(in: format))
    }

    /// The sum of the samples of a name.
    func total(_ name: String) -> Double {
        samples().reduce(0) { $1.name == name ? $0 + $1.value : $0 }
    }
}

extension AttemptLabels {
    /// The labels of a GET.
    static func make(_ host: HostLabel, _ status: HTTPStatus) -> AttemptLabels {
        AttemptLabels(
            host: host, method: .get, status: StatusLabel(status),
            error: ErrorLabel(status), version: .http11)
    }
}

/// Lists what a registry shows.
final class ListingVisitor: MetricVisitor {
    private(set) var families: [MetricFamily] = []
    private(set) var labelSets: [any LabelSet] = []

    func begin(_ family: MetricFamily) { families.append(family) }

    func add(_ number: MetricNumber, _ labels: any LabelSet) { labelSets.append(labels) }

    func add(_ histogram: HistogramCell, _ labels: any LabelSet) { labelSets.append(labels) }
}

/// Shows the same numbers to two visitors, as two scrapes would not.
final class BothWriters: MetricVisitor {
    let prometheus: PrometheusWriter
    let openMetrics: OpenMetricsWriter

    init(_ names: LabelNames) {
        prometheus = PrometheusWriter(names)
        openMetrics = OpenMetricsWriter(names)
    }

    func begin(_ family: MetricFamily) {
        prometheus.begin(family)
        openMetrics.begin(family)
    }

    func add(_ number: MetricNumber, _ labels: any LabelSet) {
        prometheus.add(number, labels)
        openMetrics.add(number, labels)
    }

    func add(_ histogram: HistogramCell, _ labels: any LabelSet) {
        prometheus.add(histogram, labels)
        openMetrics.add(histogram, labels)
    }

    var texts: (prometheus: String, openMetrics: String) {
        (
            String(decoding: prometheus.bytes, as: UTF8.self),
            String(decoding: openMetrics.bytes, as: UTF8.self)
        )
    }
}
