// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension ExpositionFormat {
    /// Chooses the format that an `Accept` field prefers (RFC 9110 section 12.5.1).
    ///
    /// It is Prometheus' text when there is no field, and when the field accepts neither: a scraper
    /// that cannot read the answer says so, and one that can gets its metrics.
    init(accepting field: String?) {
        let ranges = (field ?? "").split(separator: ",").compactMap { MediaRange($0) }
        let openMetrics = MediaRange.preference(for: .openMetrics, in: ranges)
        let prometheus = MediaRange.preference(for: .prometheus, in: ranges)
        // A wildcard is no wish for a format: exemplars are for those that name OpenMetrics.
        let isWanted =
            openMetrics.weight > prometheus.weight
            || openMetrics.weight == prometheus.weight && openMetrics.weight > 0
                && openMetrics.precision == .exact
        self = isWanted ? .openMetrics : .prometheus
    }
}

/// An element of an `Accept` field.
private struct MediaRange {
    enum Precision: Int, Comparable {
        case none
        case anything
        case anySubtype
        case exact

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private let type: String
    private let version: String?
    /// The thousandths of `q`.
    private let weight: Int

    /// Nil for an element whose weight is malformed.
    init?(_ element: Substring) {
        let parts = element.split(separator: ";").map { $0.trimmed.asciiLowercased }
        var version: String?
        var weight = 1_000
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(\.trimmed)
            guard pair.count == 2 else { continue }
            if pair[0] == "version" { version = pair[1].filter { $0 != "\"" } }
            if pair[0] == "q" {
                guard let thousandths = Self.thousandths(pair[1]) else { return nil }
                weight = thousandths
            }
        }
        type = parts.first ?? ""
        self.version = version
        self.weight = weight
    }

    /// The weight of a format by the range that describes it most precisely; 0 if none does.
    static func preference(
        for format: ExpositionFormat, in ranges: [MediaRange]
    ) -> (precision: Precision, weight: Int) {
        var best = (precision: Precision.none, weight: 0)
        for range in ranges {
            let precision = range.precision(for: format)
            guard precision != .none else { continue }
            if precision > best.precision
                || precision == best.precision && range.weight > best.weight
            {
                best = (precision, range.weight)
            }
        }
        return best
    }

    private func precision(for format: ExpositionFormat) -> Precision {
        switch (type, format) {
        case ("*/*", _): .anything
        case ("text/*", .prometheus), ("application/*", .openMetrics): .anySubtype
        case ("text/plain", .prometheus): version ?? "0.0.4" == "0.0.4" ? .exact : .none
        case ("application/openmetrics-text", .openMetrics):
            version ?? "1.0.0" == "1.0.0" ? .exact : .none
        default: .none
        }
    }

    /// The thousandths of "0.5", "1" and "1.000".
    private static func thousandths(_ text: String) -> Int? {
        var reader = ByteReader(text[...])
        guard let whole = reader.takeNumber(digits: 1), whole <= 1 else { return nil }
        guard !reader.isAtEnd else { return Int(whole) * 1_000 }
        guard reader.take(".") else { return nil }
        let digits = reader.take(while: \.isDigit)
        guard reader.isAtEnd, digits.count <= 3 else { return nil }
        let padded = digits + String(repeating: "0", count: 3 - digits.count)
        guard let fraction = Int(padded), whole == 0 || fraction == 0 else { return nil }
        return Int(whole) * 1_000 + fraction
    }
}

extension StringProtocol {
    /// The text without the spaces and tabs around it.
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return String(rest)
    }
}
