// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingOperations
import Foundation
import Synchronization

/// Loads that begin at a fixed rate in a child process whose service is watched.
struct WatchedRun: ChildWork {
    let way: Watching
    let url: String
    let requestsPerSecond: Double
    let requests: Int

    /// The result of a child.
    struct Outcome: Codable, Sendable {
        let latencies: PacedLoads.Latencies
        /// How much the memory grew at most, in MiB.
        let growth: Double
        /// The longest time to write all metrics as text, in microseconds; nil where none was read.
        let scrape: Double?
        /// The lines that the log's reader got; nil without a log.
        let lines: Int?
    }

    static let option = "--child-watched"
    private static let connections = 64
    /// The sources of the requests, each of which has series of its own.
    private static let sources = 150

    func perform() async throws -> Outcome {
        let reader = way.hasLog ? try LogReader() : nil
        var workload = Workload(url: url, concurrency: Self.connections)
        workload.sources = Self.sources
        guard
            let client = AwaitingClient(
                workload, watching: way.configuration(log: reader?.path ?? ""))
        else { throw Complaint("the client cannot be made") }
        let loads = PacedLoads(client: client, perSecond: requestsPerSecond)
        await loads.warmUp(for: requests)
        if way == .stalledLog { reader?.pause() }
        let scraper = way == .scraped ? client.stack.operations.map(Scraper.init) : nil
        let memory = ProcessStatus.residentBytes
        let latencies = try await loads.latencies(requests)
        let growth = Double(ProcessStatus.peakBytes - memory) / 1_048_576
        let scrape = scraper?.stop()
        reader?.goOn()
        await client.stack.operations?.shutDown(gracePeriod: .seconds(5))
        return Outcome(
            latencies: latencies, growth: growth, scrape: scrape, lines: reader?.close())
    }
}

/// Reads all metrics ten times a second, on a thread of its own.
private final class Scraper: Sendable {
    private let longest = Mutex<Double?>(0)

    init(_ operations: Operations) {
        Thread.detachNewThread {
            while self.scrape(operations) { usleep(100_000) }
        }
    }

    /// Returns false when it was stopped.
    private func scrape(_ operations: Operations) -> Bool {
        let start = ContinuousClock.now
        _ = operations.exposition()
        let time = (ContinuousClock.now - start) / .microseconds(1)
        return longest.withLock { longest in
            longest = longest.map { max($0, time) }
            return longest != nil
        }
    }

    /// Stops, and returns the longest time in microseconds.
    func stop() -> Double? { longest.withLock { $0.take() } }
}
