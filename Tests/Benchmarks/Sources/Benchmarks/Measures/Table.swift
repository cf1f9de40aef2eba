// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Figures as a table, ratios first.
struct Table {
    let figures: [Figure]

    private static let widths = [20, 13, 7, 9, 7, 9, 9, 9, 2]
    private static let leftAligned = [0, 1, 8]

    /// Figures that are compared with each other are next to each other.
    var text: String {
        let names = ["contestant", "scene", "c", "libcurl", "AHC", "median", "min", "max", "unit"]
        var lines = [row(names)]
        for (index, figure) in figures.enumerated() {
            let isNew = index > 0 && !figures[index - 1].isComparable(with: figure)
            if isNew, isCompared(index - 1) || isCompared(index) { lines.append("") }
            lines.append(
                row([
                    figure.contestant, figure.scene ?? "-", "\(figure.c)", ratio(figure.toLibcurl),
                    ratio(figure.toAsyncHTTPClient), Self.number(figure.median),
                    Self.number(figure.min), Self.number(figure.max), figure.unit,
                ]))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether a neighbour of a figure is of another contestant.
    private func isCompared(_ index: Int) -> Bool {
        [index - 1, index + 1].contains { other in
            figures.indices.contains(other) && figures[other].isComparable(with: figures[index])
        }
    }

    private func row(_ cells: [String]) -> String {
        zip(cells, Self.widths).enumerated().map { index, cell in
            let gap = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return Self.leftAligned.contains(index) ? cell.0 + gap : gap + cell.0
        }.joined(separator: " ").trimmingCharacters(in: .whitespaces)
    }

    private func ratio(_ ratio: Double?) -> String {
        ratio.map { String(format: "%.2f", $0) } ?? "-"
    }

    /// A number with three digits or more.
    static func number(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 1 ? 2 : 3
        return String(format: "%.\(digits)f", value)
    }
}
