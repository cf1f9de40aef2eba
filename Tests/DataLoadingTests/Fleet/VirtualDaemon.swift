// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting

/// One daemon of a virtual fleet: a limiter's table, loads that wait, and a way to the store.
struct VirtualDaemon {
    /// A load that waits; without a deadline it waits for ever.
    struct Load: Sendable {
        var deadline = Instant.distantFuture
    }

    /// How the way to the store fails.
    struct Faults: Sendable {
        /// Whether nothing comes through.
        var isCutOff = false
        /// Whether calls fail at once then, and not after 250 ms.
        var isRefused = false
        /// The chance that a question or an answer is lost.
        var loss = 0.0
        /// The chance that a question comes twice.
        var duplicates = 0.0
        /// The longest time for each way, in nanoseconds.
        var delay: Int64 = 0
    }

    let name: String
    /// Events of an earlier life are of no interest.
    let life: Int
    var table: RateTable
    var counts = FleetCounts()
    var faults = Faults()
    var isRunning = true
    /// The loads that wait, first come first.
    var loads = FIFO<Load>()
    /// A number above this many waiting loads is kept, whatever starts.
    var keepsWaiting = 0
    /// The instant for which a pump is scheduled.
    var nextPump: Instant?
    /// The instant for which the table's timers are scheduled.
    var nextWake: Instant?
    /// Whether the lane waits for a change.
    var isPaused = false
    var admitted = 0
    var refused: [Duration] = []
    var timedOut = 0

    init(_ name: String, life: Int, rule: RateRule, members: Int, policy: LossPolicy) {
        self.name = name
        self.life = life
        table = RateTable(defaultRule: rule)
        var shared = SharedRates(
            policy: policy, window: .milliseconds(100), expectedMembers: members)
        shared.orderHeartbeat()
        table.share(shared)
    }

    var demand: SlotDemand {
        var demand = SlotDemand()
        for load in waiting { demand += SlotDemand(count: 1, latest: load.deadline) }
        if keepsWaiting > demand.count {
            demand += SlotDemand(count: keepsWaiting - demand.count, latest: .distantFuture)
        }
        return demand
    }

    /// Whether a load waits.
    var isBusy: Bool { keepsWaiting > 0 || !loads.isEmpty }

    var isShared: Bool { table.shared?.circuit.isShared ?? false }

    private var waiting: [Load] {
        var copy = loads
        var found: [Load] = []
        while let next = copy.popFirst() { found.append(next) }
        return found
    }
}
