// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Writes metrics as OpenMetrics, version 1.0.
final class OpenMetricsWriter: MetricVisitor {
    private var text: SampleText
    private var name = ""
    private var suffix = ""

    init(_ names: LabelNames) {
        text = SampleText(names)
    }

    /// The text with its last line, without which a reader takes it for a part.
    var bytes: [UInt8] { text.bytes + "# EOF\n".utf8 }

    func begin(_ family: MetricFamily) {
        name = family.textName
        // The family has a name without the end that its samples have.
        suffix = family.sampleSuffix
        text.begin(family, named: name, family.kindWord)
        if let unit = family.unitWord { text.comment("UNIT", name, unit) }
    }

    func add(_ number: MetricNumber, _ labels: any LabelSet) {
        text.sample(name, suffix: suffix, labels, number)
    }

    func add(_ histogram: HistogramCell, _ labels: any LabelSet) {
        text.histogram(name, labels, histogram, exemplar: Self.text)
    }

    /// The exemplar of a bucket: 63 characters of names and values, of which 128 are allowed.
    private static func text(_ exemplar: Exemplar) -> String {
        let sample = exemplar.sample
        let trace = sample.traceHigh.hexText + sample.traceLow.hexText
        return " # {trace_id=\"\(trace)\",span_id=\"\(sample.spanID.hexText)\"} "
            + exemplar.nanoseconds.secondsText + " " + sample.time.secondsText
    }
}
