// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The figures of one concurrency as a table, ratios first.
struct Table {
    let concurrency: Int
    let figures: [Figure]
    let samples: [Contestant: [ChildRun.Outcome]]

    /// The client that the others are compared with.
    private static let yardstick = Contestant.libcurl

    private static let nameWidth = 20

    var text: String {
        let yardstick = figures.first { $0.contestant == Self.yardstick.rawValue }
        var lines = [
            "c = \(concurrency)",
            row(["contestant", "ratio", "ms/1000", "min", "max", "loads/s", "peak MiB"]),
        ]
        for figure in figures {
            let outcomes = Contestant(rawValue: figure.contestant).flatMap { samples[$0] } ?? []
            let throughput = median(outcomes.map(\.throughput))
            let memory = median(outcomes.map { Double($0.peakMemory) / 1_024 })
            let ratio = yardstick.map { number(figure.median / $0.median, 2) } ?? "-"
            lines.append(
                row([
                    figure.contestant, ratio, number(figure.median), number(figure.min),
                    number(figure.max), number(throughput, 0), number(memory),
                ]))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func row(_ cells: [String]) -> String {
        let widths = [Self.nameWidth] + [Int](repeating: 9, count: cells.count - 1)
        return zip(cells, widths).map { cell, width in
            let gap = String(repeating: " ", count: max(1, width - cell.count))
            return width == Self.nameWidth ? cell + gap : gap + cell
        }.joined()
    }

    private func number(_ value: Double, _ digits: Int = 1) -> String {
        String(format: "%.\(digits)f", value)
    }

    private func median(_ values: [Double]) -> Double {
        Figure(measure: 0, contestant: "", c: 0, samples: values, unit: "").median
    }
}
