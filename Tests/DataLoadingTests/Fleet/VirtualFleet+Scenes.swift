// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting

extension VirtualFleet {
    /// Lets time pass.
    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = events.earliest, next <= end {
            now = max(now, next)
            guard let event = events.popFirst(notAfter: now) else { break }
            handle(event)
        }
        now = end
    }

    /// Adds loads to a daemon.
    mutating func perform(_ count: Int, at index: Int, within limit: Duration? = nil) {
        guard daemons[index].isRunning else { return }
        for _ in 0..<count {
            daemons[index].loads.append(
                VirtualDaemon.Load(deadline: limit.map { now + $0 } ?? .distantFuture))
        }
        if let limit {
            _ = events.insert(.deadlines(index, life: daemons[index].life), at: now + limit)
        }
        if !daemons[index].isPaused, daemons[index].nextPump == nil { pump(index) }
    }

    /// Lets a daemon always have so many waiting loads.
    mutating func keepBusy(_ indices: Range<Int>, _ count: Int = 1_000) {
        for index in indices {
            daemons[index].keepsWaiting = count
            if daemons[index].nextPump == nil { pump(index) }
        }
    }

    /// Ends a daemon and begins another in its place, which knows nothing.
    mutating func restart(_ index: Int) {
        let faults = daemons[index].faults
        let busy = daemons[index].keepsWaiting
        daemons[index] = makeDaemon(index)
        daemons[index].faults = faults
        carryOut(index)
        if busy > 0 { keepBusy(index..<index + 1, busy) }
    }

    /// Ends a daemon, with or without a goodbye.
    mutating func stop(_ index: Int, saysGoodbye: Bool) {
        daemons[index].isRunning = false
        daemons[index].keepsWaiting = 0
        guard saysGoodbye else { return }
        left.insert(daemons[index].name)
        if members.removeValue(forKey: daemons[index].name) != nil { departures += 1 }
    }

    /// Lets the store lose everything.
    mutating func forgetAll() {
        line = QuotaLine()
        gate = 0
        members = [:]
        departures = 0
    }

    mutating func cutOff(_ indices: Range<Int>, isRefused: Bool = false) {
        for index in indices {
            daemons[index].faults.isCutOff = true
            daemons[index].faults.isRefused = isRefused
        }
    }

    mutating func heal() {
        for index in daemons.indices { daemons[index].faults = VirtualDaemon.Faults() }
    }

    /// A daemon gets a `Retry-After`.
    mutating func close(_ delay: Duration, by index: Int) {
        if daemons[index].table.close(Self.key, for: delay, at: now) {
            daemons[index].table.shared?.close(Self.key, until: now + delay)
        }
        carryOut(index)
        changed(index)
    }

    /// Gives all daemons another rate.
    mutating func setRate(_ rate: Double?) {
        rule = (try? RateRule(requestsPerSecond: rate, burst: 1)) ?? .off
        for index in daemons.indices {
            _ = daemons[index].table.replace([:], default: rule, at: now)
            changed(index)
        }
    }
}
