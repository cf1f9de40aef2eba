// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Figures of the last minute, in steps of ten seconds.
struct MinuteFigures: Sendable {
    struct Sums: Sendable {
        var loads = 0
        var failures = 0
        var cancelled = 0
        var slot = Duration.zero
        var authorisation = Duration.zero
        var backOff = Duration.zero
        var total = Duration.zero
        var times = TimeHistogram()

        mutating func add(_ load: EndedLoad) {
            loads += 1
            if load.outcome == .failure { failures += 1 }
            // How long a cancelled load took says nothing about its server.
            if load.outcome == .cancelled { cancelled += 1 } else { times.add(load.metrics.total) }
            slot += load.metrics.slot
            authorisation += load.metrics.authorisation
            backOff += load.metrics.backOff
            total += load.metrics.total
        }

        mutating func add(_ other: Sums) {
            loads += other.loads
            failures += other.failures
            cancelled += other.cancelled
            slot += other.slot
            authorisation += other.authorisation
            backOff += other.backOff
            total += other.total
            times.add(other.times)
        }
    }

    private static let step: Int64 = 10
    private static let steps: Int64 = 6

    private var places = [(step: Int64, sums: Sums)](
        repeating: (-1, Sums()), count: Int(steps))

    mutating func add(_ load: EndedLoad, in second: Int64) {
        let step = max(0, second) / Self.step
        let index = Int(step % Self.steps)
        if places[index].step != step { places[index] = (step, Sums()) }
        places[index].sums.add(load)
    }

    /// The sums of the last 50 to 60 seconds.
    func sums(at second: Int64) -> Sums {
        let step = second / Self.step
        return places.reduce(into: Sums()) { sums, place in
            if place.step >= 0, place.step > step - Self.steps, place.step <= step {
                sums.add(place.sums)
            }
        }
    }
}
