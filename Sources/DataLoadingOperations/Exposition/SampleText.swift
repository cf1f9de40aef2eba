// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The lines of samples, which both formats write alike.
struct SampleText: Sendable {
    private(set) var bytes: [UInt8] = []
    private let names: LabelNames
    /// The bounds of the last histogram, as numbers and as texts with the one above them all: those of
    /// a family have the same.
    private var bounds: (numbers: [Int64], texts: [String]) = ([], ["+Inf"])

    init(_ names: LabelNames) {
        self.names = names
    }

    /// Appends the lines about a family that both formats have, with a format's word for its kind.
    mutating func begin(_ family: MetricFamily, named name: String, _ kindWord: String) {
        comment("HELP", name, family.help)
        comment("TYPE", name, kindWord)
    }

    /// Appends a line such as `# TYPE name word`.
    mutating func comment(_ keyword: String, _ name: String, _ text: String) {
        append("# \(keyword) \(name) \(text)\n")
    }

    /// Appends a sample of a number.
    mutating func sample(
        _ name: String, suffix: String = "", _ labels: any LabelSet, _ number: MetricNumber
    ) {
        append(name, suffix, Self.text(labels.labels(names)), number.text)
        append("\n")
    }

    /// Appends the samples of a histogram; `exemplar` follows the bucket to which it belongs.
    mutating func histogram(
        _ name: String, _ labels: any LabelSet, _ cell: HistogramCell,
        exemplar: (Exemplar) -> String = { _ in "" }
    ) {
        let labels = Self.text(labels.labels(names))
        let before = labels.isEmpty ? "le=\"" : labels + ",le=\""
        if bounds.numbers != cell.bounds {
            bounds = (cell.bounds, cell.bounds.map { $0.secondsText } + ["+Inf"])
        }
        var count: Int64 = 0
        for (bucket, bound) in zip(cell.counts.indices, bounds.texts) {
            count.addSaturated(cell.counts[bucket])
            // Piece by piece: a scrape has thousands of these lines.
            append(name)
            append("_bucket{")
            append(before)
            append(bound)
            append("\"} ")
            append(String(count))
            if let example = cell.exemplars[bucket] { append(exemplar(example)) }
            append("\n")
        }
        append(name, "_sum", labels, cell.sum.secondsText)
        append("\n")
        append(name, "_count", labels, String(count))
        append("\n")
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(
        _ name: String, _ suffix: String, _ labels: String, _ value: String
    ) {
        append(name)
        append(suffix)
        append(labels.isEmpty ? " " : "{\(labels)} ")
        append(value)
    }

    private static func text(_ labels: [Label]) -> String {
        var text = ""
        for label in labels {
            text += text.isEmpty ? "" : ","
            text += label.name.underscored
            text += "=\""
            text += label.value.cutForLabel.escapedForLabel
            text += "\""
        }
        return text
    }
}
