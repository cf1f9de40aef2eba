// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The lines of samples, which both formats write alike.
struct SampleText: Sendable {
    private(set) var bytes: [UInt8] = []
    private let names: LabelNames

    init(_ names: LabelNames) {
        self.names = names
    }

    /// Appends a line such as `# TYPE name word`.
    mutating func comment(_ keyword: String, _ name: String, _ text: String) {
        append("# ", keyword, " ", name, " ", text, "\n")
    }

    /// Appends a sample of a number.
    mutating func sample(_ name: String, _ labels: any LabelSet, _ number: MetricNumber) {
        appendSample(name, Self.text(labels.labels(names)), number.text)
        append("\n")
    }

    /// Appends the samples of a histogram; `exemplar` follows the bucket to which it belongs.
    mutating func histogram(
        _ name: String, _ labels: any LabelSet, _ cell: HistogramCell,
        exemplar: (Exemplar) -> String = { _ in "" }
    ) {
        let labels = Self.text(labels.labels(names))
        let bounds = cell.bounds.map { $0.secondsText } + ["+Inf"]
        var count: Int64 = 0
        for (bound, (own, example)) in zip(bounds, zip(cell.counts, cell.exemplars)) {
            count.addSaturated(own)
            let all = labels + (labels.isEmpty ? "" : ",") + "le=\"" + bound + "\""
            appendSample(name + "_bucket", all, String(count))
            append(example.map(exemplar) ?? "", "\n")
        }
        appendSample(name + "_sum", labels, cell.sum.secondsText)
        append("\n")
        appendSample(name + "_count", labels, String(count))
        append("\n")
    }

    /// Appends a text as it is.
    mutating func append(_ texts: String...) {
        for text in texts { bytes.append(contentsOf: text.utf8) }
    }

    private mutating func appendSample(_ name: String, _ labels: String, _ value: String) {
        append(name)
        if !labels.isEmpty { append("{", labels, "}") }
        append(" ", value)
    }

    private static func text(_ labels: [Label]) -> String {
        labels.map { "\($0.name.underscored)=\"\($0.value.cutForLabel.escapedForLabel)\"" }
            .joined(separator: ",")
    }
}
