// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Loads that begin at a fixed rate, however long those before take.
struct PacedLoads {
    let client: any SingleClient
    let perSecond: Double

    /// The sorted latencies of the loads that succeeded, in microseconds from when each was due.
    func latencies(_ requests: Int) async -> [Double] {
        let latencies = Latencies()
        let round = Round(requests, started: requests)
        let interval = Duration.seconds(1 / perSecond)
        _ = await round.waitForAll {
            // A thread of its own: a task that blocks would keep the loads from running.
            Thread.detachNewThread {
                let start = ContinuousClock.now
                for index in 0..<requests {
                    let due = start + interval * index
                    Self.sleep(until: due)
                    Task.detached {
                        let succeeded = await client.loadOne()
                        let latency = (ContinuousClock.now - due) / .microseconds(1)
                        if succeeded { latencies.add(latency) }
                        _ = round.endedOne(isFailure: !succeeded)
                    }
                }
            }
        }
        return latencies.sorted
    }

    private static func sleep(until due: ContinuousClock.Instant) {
        let left = (due - .now) / .microseconds(1)
        if left > 0 { usleep(UInt32(left)) }
    }
}

/// Latencies from many tasks.
private final class Latencies: Sendable {
    private let values = Mutex<[Double]>([])

    var sorted: [Double] { values.withLock { $0.sorted() } }

    func add(_ value: Double) {
        values.withLock { $0.append(value) }
    }
}
