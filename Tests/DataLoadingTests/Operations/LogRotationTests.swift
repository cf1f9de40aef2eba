// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct LogRotationTests {
    private static func log(_ file: URL) -> AccessLog {
        var log = AccessLog(.json, to: .file(file.path))
        log.buffer = 64 * 1_048_576
        return log
    }

    @Test func `a log is appended to, and ends with the last line when it is closed`() async throws
    {
        let directory = TemporaryDirectory()
        let file = directory.url("log")
        for round in 0..<3 {
            let logger = try AccessLogger(Self.log(file))
            for number in 1...100 { logger.log(load: round * 100 + number) }
            #expect(await logger.close(within: .seconds(300)))
            logger.log(load: 1_000)
            #expect(logger.counts == LogCounts(written: 100, dropped: 1))
        }
        #expect(WrittenLog(try String(contentsOf: file, encoding: .utf8)).loads == Array(1...300))
    }

    @Test func `a log that is released without being closed writes its lines`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("log")
        func use() throws {
            let logger = try AccessLogger(Self.log(file))
            for number in 1...100 { logger.log(load: number) }
        }
        try use()
        await eventually { !Self.isOpen(file) }
        #expect(WrittenLog(try String(contentsOf: file, encoding: .utf8)).loads == Array(1...100))
    }

    @Test func `a thousand rotations while lines are written tear and lose no line`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("log")
        let logger = try AccessLogger(Self.log(file))
        let lines = Task.detached {
            for number in 1...20_000 { logger.log(load: number) }
        }
        for round in 1...1_000 {
            let name = "log." + String(repeating: "0", count: 4 - "\(round)".count) + "\(round)"
            try FileManager.default.moveItem(at: file, to: directory.url(name))
            logger.reopen()
        }
        await lines.value
        #expect(await logger.close(within: .seconds(300)))
        #expect(logger.counts == LogCounts(written: 20_000))
        let names = directory.names.filter { $0 != "log" } + ["log"]
        let texts = try names.map { try String(contentsOf: directory.url($0), encoding: .utf8) }
        #expect(texts.count == 1_001)
        #expect(texts.flatMap { WrittenLog($0).loads } == Array(1...20_000))
        #expect(!Self.isOpen(directory.url))
    }

    @Test func `a log whose path cannot be opened again continues in its file`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("logs/log")
        try FileManager.default.createDirectory(
            at: directory.url("logs"), withIntermediateDirectories: false)
        let logger = try AccessLogger(Self.log(file))
        logger.log(load: 1)
        try FileManager.default.moveItem(at: directory.url("logs"), to: directory.url("old"))
        logger.reopen()
        logger.reopen()
        logger.log(load: 2)
        #expect(await logger.close(within: .seconds(300)))
        #expect(logger.counts.written == 2 && logger.counts.dropped == 0)
        // The log tries again by itself once a second.
        #expect(logger.counts.failedReopenings >= 2)
        let text = try String(contentsOf: directory.url("old/log"), encoding: .utf8)
        #expect(WrittenLog(text).loads == [1, 2])
        // A closed log opens no file any more.
        try FileManager.default.moveItem(at: directory.url("old"), to: directory.url("logs"))
        logger.reopen()
        #expect(!Self.isOpen(file))
    }

    @Test func `a log whose path can be opened later goes on there by itself`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("logs/log")
        let clock = ManualClock()
        try FileManager.default.createDirectory(
            at: directory.url("logs"), withIntermediateDirectories: false)
        let logger = try AccessLogger(Self.log(file), timekeeper: clock.timekeeper)
        logger.log(load: 1)
        await eventually { logger.counts.written == 1 }
        try FileManager.default.moveItem(at: directory.url("logs"), to: directory.url("old"))
        logger.reopen()
        try FileManager.default.createDirectory(
            at: directory.url("logs"), withIntermediateDirectories: false)
        clock.advance(by: .seconds(1))
        // The thread may be about to write some of them to the old file.
        await eventually {
            logger.log(load: 2)
            return (try? Data(contentsOf: file))?.isEmpty == false
        }
        #expect(await logger.close(within: .seconds(300)))
        let loads = try WrittenLog(String(contentsOf: file, encoding: .utf8)).loads
        #expect(Set(loads) == [2])
    }

    @Test func `a log that cannot be opened says where and why`() {
        let directory = TemporaryDirectory()
        let error = #expect(throws: LogFileError.self) {
            try AccessLogger(AccessLog(.json, to: .file(directory.url.path)))
        }
        #expect(error?.description == "\(directory.url.path): Is a directory")
        #expect(throws: LogFileError(path: "/tmp/a\0b", code: EINVAL)) {
            try AccessLogger(AccessLog(.json, to: .file("/tmp/a\0b")))
        }
    }

    @Test func `a new log file has the mode 0640 whatever the process masks`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            for (mask, name) in [(mode_t(0), "a"), (0o777, "b")] {
                umask(mask)
                let file = directory.url(name).path
                let logger = try AccessLogger(AccessLog(.json, to: .file(file)))
                _ = await logger.close(within: .seconds(300))
                var status = stat()
                guard stat(file, &status) == 0, status.st_mode & 0o777 == 0o640 else { exit(1) }
                // What a rotation has made keeps its mode.
                chmod(file, 0o600)
                let second = try AccessLogger(AccessLog(.json, to: .file(file)))
                _ = await second.close(within: .seconds(300))
                guard stat(file, &status) == 0, status.st_mode & 0o777 == 0o600 else { exit(2) }
            }
        }
    }

    /// Whether the process has a descriptor for a file, or for one in a directory.
    private static func isOpen(_ url: URL) -> Bool {
        let all = "/proc/self/fd"
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: all)) ?? []
        return names.contains { name in
            let target = try? files.destinationOfSymbolicLink(atPath: "\(all)/\(name)")
            return target?.hasPrefix(url.resolvingSymlinksInPath().path) ?? false
        }
    }
}
