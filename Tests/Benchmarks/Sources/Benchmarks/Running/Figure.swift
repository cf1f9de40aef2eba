// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One line of the result: what one contestant took, of one unit.
struct Figure: Codable, Sendable {
    let measure: Int
    let contestant: String
    /// The variant of the measure, such as a protocol; nil when it has only one.
    let scene: String?
    /// How many loads, hosts or bytes: what the measure varies.
    let c: Int
    let median: Double
    let min: Double
    let max: Double
    let unit: String
    /// The median divided by libcurl's; nil when that did not run.
    var toLibcurl: Double?
    /// The median divided by AsyncHTTPClient's; nil when that did not run.
    var toAsyncHTTPClient: Double?

    init(
        measure: Int, contestant: String, scene: String? = nil, c: Int, samples: [Double],
        unit: String
    ) {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        self.measure = measure
        self.contestant = contestant
        self.scene = scene
        self.c = c
        median =
            sorted.isEmpty
            ? 0
            : sorted.count.isMultiple(of: 2)
                ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        min = sorted.first ?? 0
        max = sorted.last ?? 0
        self.unit = unit
    }

    /// Whether both are of the same work, by other contestants.
    func isComparable(with other: Figure) -> Bool {
        measure == other.measure && scene == other.scene && c == other.c && unit == other.unit
    }

    static func write(_ figures: [Figure], to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(figures).write(to: URL(fileURLWithPath: file))
    }

    static func read(from file: String) throws -> [Figure] {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        return try JSONDecoder().decode([Figure].self, from: data)
    }
}

extension [Figure] {
    /// The figures with their ratios to those of the two clients that others are compared with.
    var compared: [Figure] {
        map { figure in
            var figure = figure
            figure.toLibcurl = ratio(of: figure, to: .libcurl)
            figure.toAsyncHTTPClient = ratio(of: figure, to: .asyncHTTPClient)
            return figure
        }
    }

    private func ratio(of figure: Figure, to contestant: Contestant) -> Double? {
        let other = first {
            $0.contestant == contestant.rawValue && $0.isComparable(with: figure)
        }
        return other.flatMap { $0.median > 0 ? figure.median / $0.median : nil }
    }
}
