// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Counts over all features since the start.
struct LiveTotals: Sendable {
    private var loads: Int64 = 0
    private var failures: Int64 = 0
    private var cancelled: Int64 = 0
    private var attempts: Int64 = 0
    private var bytesDown: Int64 = 0
    private var bytesUp: Int64 = 0
    private var seconds = SecondRing()

    mutating func countAttempt() { attempts.addSaturated(1) }

    mutating func add(_ outcome: OutcomeWord, down: Int64, up: Int64, in second: Int64) {
        loads.addSaturated(1)
        if outcome == .failure { failures.addSaturated(1) }
        if outcome == .cancelled { cancelled.addSaturated(1) }
        bytesDown.addSaturated(down)
        bytesUp.addSaturated(up)
        seconds.add(
            SecondRing.Sums(
                loads: 1, failures: outcome == .failure ? 1 : 0, bytes: down.addingSaturated(up)),
            in: second)
    }

    /// Adds its members to the object that is open; rates are those of the last ten seconds.
    func addMembers(to json: inout JSONWriter, at second: Int64) {
        json.member("loads", loads)
        json.member("failures", failures)
        json.member("cancelled", cancelled)
        json.member("attempts", attempts)
        json.member("bytesDown", bytesDown)
        json.member("bytesUp", bytesUp)
        let rates = seconds.rates(before: second)
        json.member("loadsPerSecond", rates.loads)
        json.member("failuresPerSecond", rates.failures)
        json.member("bytesPerSecond", rates.bytes)
    }
}

extension SecondRing {
    /// Sums for each of the last ten seconds that are over, or of those since the start.
    func rates(before second: Int64) -> (loads: Double, failures: Double, bytes: Int64) {
        let count = min(10, max(1, second))
        let sums = sums(of: count, before: second)
        return (
            Double(sums.loads) / Double(count), Double(sums.failures) / Double(count),
            sums.bytes / count
        )
    }
}
