// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Loads that begin at a fixed rate, however long those before take.
struct PacedLoads {
    /// Latencies of loads, in microseconds from when each was due.
    struct Latencies: Codable, Sendable {
        let median: Double
        let percentile99: Double
    }

    let client: any SingleClient
    let perSecond: Double

    /// Makes a tenth of the loads more, which open connections and fill caches.
    func warmUp(for requests: Int) async {
        _ = await sorted(requests / 10)
    }

    /// Makes the loads; throws when one of them fails.
    func latencies(_ requests: Int) async throws -> Latencies {
        let sorted = await sorted(requests)
        guard sorted.count == requests else { throw Complaint("loads failed") }
        return Latencies(
            median: sorted[requests / 2], percentile99: sorted[requests * 99 / 100])
    }

    /// The sorted latencies of the loads that succeeded.
    private func sorted(_ requests: Int) async -> [Double] {
        let latencies = LatencyList()
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
private final class LatencyList: Sendable {
    private let values = Mutex<[Double]>([])

    var sorted: [Double] { values.withLock { $0.sorted() } }

    func add(_ value: Double) {
        values.withLock { $0.append(value) }
    }
}
