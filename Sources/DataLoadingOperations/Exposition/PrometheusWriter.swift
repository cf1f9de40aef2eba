// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Writes metrics as Prometheus' text, version 0.0.4.
///
/// It has no exemplars: a reader of this format takes none of a text that has one.
final class PrometheusWriter: MetricVisitor {
    private var text: SampleText
    private var name = ""

    init(_ names: LabelNames) {
        text = SampleText(names)
    }

    var bytes: [UInt8] { text.bytes }

    func begin(_ family: MetricFamily) {
        // The family has the name of its samples, and there is no word for an info.
        name = family.textName + family.sampleSuffix
        text.begin(family, named: name, family.kind == .info ? "gauge" : family.kindWord)
    }

    func add(_ number: MetricNumber, _ labels: any LabelSet) {
        text.sample(name, labels, number)
    }

    func add(_ histogram: HistogramCell, _ labels: any LabelSet) {
        text.histogram(name, labels, histogram)
    }
}
