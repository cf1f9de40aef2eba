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
        /// Latencies in microseconds, from when a load was due.
        let median: Double
        let percentile99: Double
        /// How much the memory grew at most, in MiB.
        let growth: Double
        /// The longest time to write all metrics as text, in microseconds; nil where nobody read them.
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
        _ = await loads.latencies(requests / 10)
        if way == .stalledLog { reader?.pause() }
        let scraper = way == .scraped ? client.stack.operations.map(Scraper.init) : nil
        let memory = ProcessStatus.residentBytes
        let latencies = await loads.latencies(requests)
        let growth = Double(ProcessStatus.peakBytes - memory) / 1_048_576
        let scrape = scraper?.stop()
        reader?.goOn()
        await client.stack.operations?.shutDown(gracePeriod: .seconds(5))
        guard latencies.count == requests else { throw Complaint("loads failed") }
        return Outcome(
            median: latencies[requests / 2], percentile99: latencies[requests * 99 / 100],
            growth: growth, scrape: scrape, lines: reader?.close())
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

/// Counts the lines that come through a named pipe.
private final class LogReader: Sendable {
    let path: String
    private let descriptor: Int32
    private let lines = Atomic(0)
    private let isPaused = Atomic(false)
    private let end = DispatchSemaphore(value: 0)

    init() throws {
        path = NSTemporaryDirectory() + "benchmark-\(getpid())"
        guard mkfifo(path, 0o600) == 0 else { throw Complaint("no pipe can be made") }
        // For writing too, so that the opening does not wait for a writer.
        descriptor = open(path, O_RDWR)
        Thread.detachNewThread { self.read() }
    }

    private func read() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            while isPaused.load(ordering: .acquiring) { usleep(10_000) }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { break }
            let bytes = buffer[..<count]
            lines.add(bytes.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed)
            // What ends the reading: it is no line of the log.
            if bytes.last == 0 { break }
        }
        end.signal()
    }

    func pause() { isPaused.store(true, ordering: .releasing) }

    func goOn() { isPaused.store(false, ordering: .releasing) }

    /// Ends the reading when all was read, and returns the number of lines.
    func close() -> Int {
        var mark: UInt8 = 0
        write(descriptor, &mark, 1)
        end.wait()
        Glibc.close(descriptor)
        unlink(path)
        return lines.load(ordering: .relaxed)
    }
}
