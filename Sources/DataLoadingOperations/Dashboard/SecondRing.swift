// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Sums of each of the last 600 seconds.
struct SecondRing: Sendable {
    struct Sums: Sendable {
        var loads: Int64 = 0
        var failures: Int64 = 0
        var bytes: Int64 = 0

        mutating func add(_ other: Sums) {
            loads.addSaturated(other.loads)
            failures.addSaturated(other.failures)
            bytes.addSaturated(other.bytes)
        }
    }

    static let seconds: Int64 = 600

    /// The sums of a second, with its number: a place that an older second left is as good as empty.
    private struct Place: Sendable {
        var second: Int64 = -1
        var sums = Sums()
    }

    private var places = [Place](repeating: Place(), count: Int(seconds))

    mutating func add(_ sums: Sums, in second: Int64) {
        let index = Self.index(of: second)
        if places[index].second != second { places[index] = Place(second: second) }
        places[index].sums.add(sums)
    }

    /// The sums of so many seconds before another one.
    func sums(of count: Int64, before end: Int64) -> Sums {
        var sums = Sums()
        for second in max(0, end - min(count, Self.seconds))..<max(0, end) {
            let place = places[Self.index(of: second)]
            if place.second == second { sums.add(place.sums) }
        }
        return sums
    }

    private static func index(of second: Int64) -> Int { Int(max(0, second) % seconds) }
}
