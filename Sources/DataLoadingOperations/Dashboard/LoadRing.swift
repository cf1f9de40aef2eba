// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The last loads that ended, numbered from 1.
struct LoadRing: Sendable {
    static let maxLoads = 200
    static let maxBatch = 50

    private var loads: [EndedLoad] = []
    /// The number of the last load; 0 before the first.
    private(set) var last: Int64 = 0

    mutating func append(_ load: EndedLoad) {
        if loads.count < Self.maxLoads {
            loads.append(load)
        } else {
            loads[place(of: last + 1)] = load
        }
        last += 1
    }

    /// The oldest loads after a number, with their own; those that are gone are skipped.
    ///
    /// A number that is not reached yet comes from a process before, so that all are new to its
    /// reader.
    func loads(after number: Int64) -> [(number: Int64, load: EndedLoad)] {
        let oldest = last - Int64(loads.count) + 1
        let first = number > last ? oldest : max(oldest, number + 1)
        guard first <= last else { return [] }
        return (first...min(last, first + Int64(Self.maxBatch) - 1)).map { number in
            (number, loads[place(of: number)])
        }
    }

    private func place(of number: Int64) -> Int { Int((number - 1) % Int64(Self.maxLoads)) }
}
