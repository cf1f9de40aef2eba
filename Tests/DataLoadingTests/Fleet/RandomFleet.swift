// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting

/// A fleet with random faults, judged by what it has started.
enum RandomFleet {
    /// Returns what is wrong; nil if nothing is.
    static func judge(_ generator: inout SeededGenerator) -> String? {
        let count = Int.random(in: 2...16, using: &generator)
        let rate = ([3, 10, 40, 150, 400] as [Double]).randomElement(using: &generator) ?? 10
        let burst = Int.random(in: 1...4, using: &generator)
        var fleet = VirtualFleet(
            count, rate: rate, burst: burst, seed: UInt64.random(in: 0...(.max), using: &generator))
        fleet.lateness = Int64.random(in: 0...2_000_000, using: &generator)
        // After which the line may be lost: what was leased of it may be leased again.
        var disturbances: [Int64] = [0]
        fleet.keepBusy(0..<count, 500)
        for _ in 0..<Int.random(in: 2...5, using: &generator) {
            fleet.run(for: .milliseconds(Int64.random(in: 0...1_500, using: &generator)))
            disturb(&fleet, &generator, &disturbances)
        }
        fleet.heal()
        disturbances.append(fleet.now.nanoseconds)
        let settling = max(4, 4 * Double(count) / rate)
        fleet.run(for: .saturating(seconds: settling))
        let healed = fleet.now
        fleet.run(for: .saturating(seconds: max(3, 4 * Double(count) / rate)))
        let starved = fleet.shares(from: healed).firstIndex(of: 0)
        if let starved { return "daemon \(starved) of \(count) starved at \(rate)/s" }
        return gate(&fleet, &generator) ?? excess(fleet, rate, burst, disturbances)
    }

    /// One daemon is told to wait: no daemon starts a load any more once the window is over.
    private static func gate(
        _ fleet: inout VirtualFleet, _ generator: inout SeededGenerator
    ) -> String? {
        let delay = Duration.milliseconds(Int64.random(in: 300...3_000, using: &generator))
        let closed = fleet.now
        fleet.close(delay, by: Int.random(in: fleet.daemons.indices, using: &generator))
        fleet.run(for: delay + .seconds(1))
        let noticed = closed.nanoseconds + 110_000_000 + fleet.lateness
        let late = fleet.admissions.filter {
            noticed < $0.at && $0.at < (closed + delay).nanoseconds - 1_000_000
        }
        guard let first = late.first else { return nil }
        let after = Double(first.at - closed.nanoseconds) / 1e6
        return "\(late.count) loads in a gate of \(delay), the first after \(after) ms"
    }

    private static func disturb(
        _ fleet: inout VirtualFleet, _ generator: inout SeededGenerator,
        _ disturbances: inout [Int64]
    ) {
        let index = Int.random(in: fleet.daemons.indices, using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: fleet.daemons[index].faults.loss = Double.random(in: 0...0.5, using: &generator)
        case 1: fleet.daemons[index].faults.duplicates = 0.3
        case 2:
            fleet.daemons[index].faults.delay = Int64.random(in: 0...80_000_000, using: &generator)
        case 3: fleet.restart(index)
        case 4: fleet.forgetAll()
        case 5: fleet.shift += Double.random(in: -5_000_000...5_000_000, using: &generator)
        default: fleet.cutOff(0..<index + 1, isRefused: Bool.random(using: &generator))
        }
        disturbances.append(fleet.now.nanoseconds)
    }

    /// Windows of several lengths: what the line allows, and what each daemon's own share does.
    private static func excess(
        _ fleet: VirtualFleet, _ rate: Double, _ burst: Int, _ disturbances: [Int64]
    ) -> String? {
        let members = Double(fleet.daemons.count)
        let horizon = 2 * max(0.1, members / rate)
        // A slot may be used late, and its answer may take 250 ms. A daemon's own share may begin with
        // a slot and have one that is used late, and a new daemon may not know of all others.
        let lateness = 0.25 + max(0.025, 1 / rate) + Double(fleet.lateness) / 1e9
        for (isOwn, length) in [(false, 0.5), (false, 2), (true, 0.5), (true, 2)] {
            let times = fleet.admissions.filter { $0.isOwn == isOwn }.map(\.at)
            var first = 0
            for last in times.indices {
                let span = Int64(length * 1e9)
                while times[last] - times[first] > span { first += 1 }
                let number = Double(last - first + 1)
                // A slot that was leased after it may be as far away, and one leased then too.
                let reach = Int64((2 * horizon + 3 + lateness) * 1e9)
                let near = disturbances.count { $0 <= times[last] && $0 >= times[first] - reach }
                // Each daemon may keep a slot of before, too.
                let again = Double(near) * (horizon * rate + Double(burst) + members)
                let most =
                    isOwn
                    ? 1.1 * rate * length + 2 * members + Double(near)
                    : Double(burst) + rate * (length + lateness) + 1 + again
                if number > most {
                    return "\(number) of \(most) in \(length) s, own share: \(isOwn), \(rate)/s"
                }
            }
        }
        return nil
    }
}
