// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A stripe's series of one instrument.
///
/// A series is never removed: a cumulative sum that started again would be read as a restart.
struct SeriesTable<Labels: LabelSet, Cell: SeriesCell>: Sendable {
    /// Nearly all loads have one of a few label sets: comparing so many takes less time than one hash.
    private static var compared: Int { 8 }

    /// Where the label sets after the first few are.
    private var rows: [Labels: Int] = [:]
    /// The series in the order in which they came, so that scrapes have one order.
    private var keys: [Labels] = []
    private var cells: [Cell] = []
    /// Counts what found no room; nil until something did.
    private(set) var overflow: Cell?
    private let empty: Cell
    private let limit: SeriesLimit

    /// Makes a table of an instrument; `limit` is shared by its stripes.
    init(of empty: Cell, limit: SeriesLimit) {
        self.empty = empty
        self.limit = limit
    }

    /// The series with their labels.
    var series: Zip2Sequence<[Labels], [Cell]> { zip(keys, cells) }

    /// Changes the series of a label set, or where there is no room for it the one of all others.
    mutating func change(_ labels: Labels, _ body: (inout Cell) -> Void) {
        if let row = row(of: labels) {
            body(&cells[row])
        } else if limit.takeOne() {
            if cells.count >= Self.compared { rows[labels] = cells.count }
            keys.append(labels)
            cells.append(empty)
            body(&cells[cells.count - 1])
        } else {
            var cell = overflow.take() ?? empty
            body(&cell)
            overflow = cell
        }
    }

    private func row(of labels: Labels) -> Int? {
        for row in 0..<min(keys.count, Self.compared) where keys[row] == labels { return row }
        return rows.isEmpty ? nil : rows[labels]
    }
}
