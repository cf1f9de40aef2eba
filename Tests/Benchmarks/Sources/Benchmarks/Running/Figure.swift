// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One line of the result: a client's cost at one concurrency.
struct Figure: Codable, Sendable {
    let measure: Int
    let contestant: String
    let c: Int
    let median: Double
    let min: Double
    let max: Double
    let unit: String

    init(measure: Int, contestant: String, c: Int, samples: [Double], unit: String) {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        self.measure = measure
        self.contestant = contestant
        self.c = c
        median =
            sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        min = sorted.first ?? 0
        max = sorted.last ?? 0
        self.unit = unit
    }

    static func write(_ figures: [Figure], to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(figures).write(to: URL(fileURLWithPath: file))
    }
}
