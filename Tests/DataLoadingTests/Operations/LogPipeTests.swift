// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// The reader of a pipe may stop, or go away.
@Suite(.timeLimit(.minutes(30))) struct LogPipeTests {
    private static func log(_ path: String, buffer: Int = 65_536) -> AccessLog {
        var log = AccessLog(.json, to: .file(path))
        log.buffer = buffer
        return log
    }

    @Test func `a log whose reader stops drops new lines, and says exactly how many`() async throws
    {
        let directory = TemporaryDirectory()
        let reader = try #require(PipeReader(in: directory))
        let logger = try AccessLogger(Self.log(reader.path))
        for number in 1...5_000 { logger.log(load: number) }
        // The pipe holds at most 64 KiB, and the buffer as much.
        #expect(logger.counts.dropped > 3_000)
        async let text = reader.readToEnd()
        #expect(await logger.close(within: .seconds(300)))
        let whole = await text
        let written = WrittenLog(whole)
        let counts = logger.counts
        #expect(counts.written + counts.dropped == 5_000)
        #expect(written.loads.count == counts.written)
        #expect(written.allDropped == counts.dropped)
        #expect(written.loads == written.loads.sorted())
        #expect(Set(written.loads).count == written.loads.count)
        // Nothing was dropped before the buffer was full to its last line.
        #expect(whole.utf8.count > 65_536 - LogLine.maxLength)
    }

    @Test func `a log whose reader stops blocks no load and no observer`() async throws {
        let directory = TemporaryDirectory()
        let reader = try #require(PipeReader(in: directory))
        let logger = try AccessLogger(Self.log(reader.path, buffer: 0))
        let observer = CountingObserver(logger)
        let bed = TestBed(otherwise: .run { $0.respond(status: 200) })
        bed.service.addConsumptionObserver(observer, on: DispatchQueue(label: "log"))
        for _ in 0..<1_000 { _ = try await bed.loader.response(for: .make()) }
        _ = await observer.calls.first(1_000)
        #expect(logger.counts.dropped > 0)
        async let text = reader.readToEnd()
        #expect(await logger.close(within: .seconds(300)))
        let written = WrittenLog(await text)
        #expect(written.loads.count + written.allDropped == 1_000)
    }

    @Test func `closing a log whose reader stops ends at its limit, and drops the rest`()
        async throws
    {
        let directory = TemporaryDirectory()
        let reader = try #require(PipeReader(in: directory))
        let clock = ManualClock()
        let logger = try AccessLogger(Self.log(reader.path), timekeeper: clock.timekeeper)
        for number in 1...2_000 { logger.log(load: number) }
        async let isWhole = logger.close(within: .seconds(5))
        await clock.waitForAlarms(1)
        async let again = logger.close(within: .seconds(300))
        clock.advance(by: .seconds(5))
        #expect(await !isWhole)
        #expect(await !again)
        // The reader continues only now: the thread writes what it has begun, and nothing more.
        let text = await reader.readToEnd()
        #expect(WrittenLog(text).loads.count < 1_000)
        await eventually { logger.counts.written + logger.counts.dropped == 2_000 }
    }

    @Test func `a log into a pipe without a reader cannot be opened`() throws {
        let directory = TemporaryDirectory()
        let path = directory.url("pipe").path
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: LogFileError(path: path, code: ENXIO)) {
            try AccessLogger(Self.log(path))
        }
    }

    @Test func `a reader of standard error that is gone ends no process`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let standardError = dup(2)
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0, dup2(ends[1], 2) == 2 else { exit(2) }
            close(ends[0])
            close(ends[1])
            let logger = try AccessLogger(AccessLog(.logfmt, to: .standardError))
            for number in 1...10 { logger.log(load: number) }
            logger.reopen()
            guard await logger.close(within: .seconds(300)) else { exit(3) }
            // The testing library writes to it at the end.
            dup2(standardError, 2)
            guard logger.counts == LogCounts(dropped: 10) else { exit(4) }
        }
    }
}

/// Passes reports on to a log, and counts those that were.
private final class CountingObserver: ConsumptionObserver {
    let calls = EventRecorder<Void>()
    private let logger: AccessLogger

    init(_ logger: AccessLogger) {
        self.logger = logger
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        logger.endedRequest(
            with: response, bytesDownloaded: bytesDownloaded, bytesUploaded: bytesUploaded)
        calls.record(())
    }
}

extension AccessLogger {
    /// Logs a load with a number.
    func log(load number: Int) {
        var response = DataLoaderResponse(request: .make("/a"), statusCode: .ok)
        response.metrics.load = Int64(number)
        endedRequest(with: response, bytesDownloaded: 1, bytesUploaded: 1)
    }
}
