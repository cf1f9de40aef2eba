// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Writes an access log: the observer of a service whose loads have a line in it.
///
/// It makes a line on the thread on which the load ended, and never waits for the output.
final class AccessLogger: ConsumptionObserver {
    private let format: AccessLog.Format
    private let sampling: Locked<LogSampling>
    private let tracer: Tracer
    private let writer: LogWriter
    private let timekeeper: any Timekeeper
    /// The place in which lines are made, one after the other.
    private let memory = Locked(LineMemory())

    /// Opens the output of a log; throws what the system says if it cannot be opened.
    init(
        _ log: AccessLog, tracer: Tracer = Tracer(),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws(LogFileError) {
        format = log.format
        sampling = Locked(LogSampling(log))
        self.tracer = tracer
        writer = try LogWriter(log, timekeeper: timekeeper)
        self.timekeeper = timekeeper
    }

    /// What became of the lines so far.
    var counts: LogCounts { writer.counts }

    /// What the log tells of itself now.
    var state: LogState {
        LogState(dropped: Int64(writer.counts.dropped), trouble: writer.trouble)
    }

    /// Chooses by other rules from now on.
    func replaceSampling(_ sampling: LogSampling) { self.sampling.withLock { $0 = sampling } }

    /// Adds the line of a load, if it is to have one.
    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let bytesMoved = bytesDownloaded > 0 || bytesUploaded > 0
        guard sampling.withLock({ $0.keeps(response, bytesMoved: bytesMoved) }) else { return }
        let trace = tracer.trace(of: response)
        append { time, bytes in
            LogLine.writeRest(
                response, bytesDownloaded: bytesDownloaded, bytesUploaded: bytesUploaded,
                trace: trace, at: time, format, to: &bytes)
        }
    }

    /// Adds the line of an attempt, if it is to have one.
    func attemptEnded(_ attempt: AttemptRecord) {
        guard sampling.withLock({ $0.keeps(attempt) }) else { return }
        append { time, bytes in
            LogLine.writeRest(attempt, at: time, format, to: &bytes)
        }
    }

    /// Adds a line of now, of which `body` writes the rest.
    private func append(_ body: (LogTime, inout FixedBytes) -> Void) {
        let time = LogTime(timekeeper.date)
        memory.withLock { memory in
            var bytes = memory.begin(format, time)
            body(time, &bytes)
            writer.append(bytes.written)
        }
    }

    /// Adds a line about an error of the daemon itself, whatever the sampling is.
    func tell(_ error: String) {
        LogLine.error(error, at: timekeeper.date, format).withUnsafeBufferPointer(writer.append)
    }

    /// Opens the file again, after a rotation has renamed it.
    func reopen() { writer.reopen() }

    /// Writes what waits and closes the file; false if that took longer than a limit.
    func close(within limit: Duration) async -> Bool { await writer.close(within: limit) }
}
