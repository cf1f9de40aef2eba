// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a metric is called, counts and means, in the words of OpenTelemetry.
struct MetricFamily: Sendable {
    enum Kind: Hashable, Sendable {
        /// A sum that never falls.
        case counter
        /// A sum that rises and falls.
        case upDownCounter
        /// A value as it is now.
        case gauge
        /// Labels that do not change, with the value 1.
        case info
        /// Counts of values up to each bound, in nanoseconds, smallest bound first.
        case histogram(bounds: [Int64])
    }

    /// The name, with dots.
    let name: String
    /// The unit in UCUM's notation; empty for a number without one.
    let unit: String
    let kind: Kind
    /// One sentence without quotation marks, backslashes and line feeds: it is written as it is.
    let help: String

    init(_ name: String, unit: String = "", _ kind: Kind, _ help: String) {
        self.name = name
        self.unit = unit
        self.kind = kind
        self.help = help
    }

    /// The bounds of a histogram; none for another kind.
    var bounds: [Int64] {
        if case .histogram(let bounds) = kind { bounds } else { [] }
    }
}

extension MetricFamily.Kind {
    /// A histogram with bounds in milliseconds.
    static func histogram(milliseconds: [Int64]) -> Self {
        .histogram(bounds: milliseconds.map { $0 * 1_000_000 })
    }
}
