// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Numbered records of which only the newest are kept, so that a long run takes no more memory.
struct RecordLog<Record> {
    private var records: [Record] = []
    private var firstNumber = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// The number of records ever added, which is the number of the next one.
    var count: Int { firstNumber + records.count }

    /// The newest records, at most `limit`, in order.
    var newest: [Record] { Array(records.suffix(limit)) }

    mutating func append(_ record: Record) {
        records.append(record)
        // Dropping half at once costs each record one move.
        guard records.count / 2 >= limit else { return }
        records.removeFirst(limit)
        firstNumber += limit
    }

    /// Changes a record, if it is still kept.
    mutating func update(_ number: Int, _ change: (inout Record) -> Void) {
        guard number >= firstNumber, number < count else { return }
        change(&records[number - firstNumber])
    }

    /// The record with a number, if it is still kept.
    func record(_ number: Int) -> Record? {
        guard number >= firstNumber, number < count else { return nil }
        return records[number - firstNumber]
    }
}
