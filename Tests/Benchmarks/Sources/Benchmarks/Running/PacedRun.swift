// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Loads that begin at a fixed rate, however long those before take, in a child process.
struct PacedRun: ChildWork {
    let contestant: Contestant
    let workload: Workload
    let requestsPerSecond: Double
    let requests: Int

    /// The result of a child, in microseconds from when a load was due.
    struct Outcome: Codable, Sendable {
        let median: Double
        let percentile99: Double
    }

    static let option = "--child-paced"

    func perform() async throws -> Outcome {
        guard let client = contestant.makeClient(workload) as? any SingleClient else {
            throw Complaint("\(contestant.rawValue) loads no single URL")
        }
        _ = await measure(client, requests / 10)
        let latencies = await measure(client, requests)
        guard latencies.count == requests else { throw Complaint("loads failed") }
        return Outcome(
            median: latencies[requests / 2], percentile99: latencies[requests * 99 / 100])
    }

    /// The sorted latencies of the loads that succeeded.
    private func measure(_ client: any SingleClient, _ requests: Int) async -> [Double] {
        let latencies = Latencies()
        let round = Round(requests, started: requests)
        let interval = Duration.seconds(1 / requestsPerSecond)
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
