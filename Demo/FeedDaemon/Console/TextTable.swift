// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which end of its column a cell stands at.
enum Alignment: Sendable {
    case left
    case right
}

/// A table of text: columns as wide as their widest cell, two spaces between them.
struct TextTable: Sendable {
    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]?] = []

    init(_ columns: [(title: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Adds a row; cells that are missing stay empty.
    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    /// Adds a line between the rows.
    mutating func addRule() {
        rows.append(nil)
    }

    /// The lines, the titles first.
    var lines: [String] {
        let all = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in
            all.map { row in row.map { $0.count > column ? $0[column].count : 0 } ?? 0 }.max() ?? 0
        }
        return all.map { row in
            guard let row else { return widths.map(Self.rule).joined(separator: "  ") }
            let cells = columns.indices.map { column in
                (row.count > column ? row[column] : "")
                    .padded(to: widths[column], alignment: columns[column].alignment)
            }
            return cells.joined(separator: "  ").withoutTrailingSpace
        }
    }

    private static func rule(_ width: Int) -> String {
        String(repeating: "-", count: width)
    }
}

extension String {
    /// Filled up with spaces; a text that is longer stays as it is.
    func padded(to width: Int, alignment: Alignment) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return alignment == .left ? self + space : space + self
    }

    fileprivate var withoutTrailingSpace: String {
        guard let last = lastIndex(where: { $0 != " " }) else { return "" }
        return String(self[...last])
    }
}
