// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels that one series of a metric has.
///
/// A conformer is a struct of closed fields: a server cannot add a value, and recording needs no
/// text. A dictionary of strings would be neither.
protocol LabelSet: Hashable, Sendable {
    /// The labels as text.
    func labels(_ names: LabelNames) -> [Label]
}

/// A label as text, with the name of OpenTelemetry's attribute.
struct Label: Hashable, Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The texts that the indices in label sets represent.
struct LabelNames: Sendable {
    let hosts: HostTable
    let sources: SourceTable

    /// The value of a label whose own value is not in the bounded list.
    static let other = "_OTHER"
}

/// The labels of a series that is the only one of its family.
struct NoLabels: LabelSet {
    func labels(_ names: LabelNames) -> [Label] { [] }
}

/// The labels of the series that counts what found no room among those of its family.
struct OverflowLabels: LabelSet {
    func labels(_ names: LabelNames) -> [Label] { [Label("otel.metric.overflow", "true")] }
}
