// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A table of text: columns as wide as their widest cell, all but the first aligned to the right.
struct TextTable: Sendable {
    private var rows: [[String]?]

    init(titles: [String]) {
        rows = [titles]
    }

    /// Adds a row with as many cells as there are titles.
    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    /// Adds a line between the rows.
    mutating func addRule() {
        rows.append(nil)
    }

    /// The lines, the titles first.
    var lines: [String] {
        let widths = rows.compactMap(\.self).reduce(into: [Int]()) { widths, row in
            widths += row.dropFirst(widths.count).map(\.count)
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = row ?? widths.map { String(repeating: "-", count: $0) }
            let columns = zip(cells, widths).enumerated().map { column, cell in
                cell.0.padded(to: cell.1, onTheLeft: column > 0)
            }
            return columns.joined(separator: "  ")
        }
    }
}

extension String {
    /// The text with spaces added; a longer text is not cut.
    func padded(to width: Int, onTheLeft: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return onTheLeft ? space + self : self + space
    }
}
