// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

#if os(Linux)
    @Suite(.timeLimit(.minutes(30))) struct FullDiskTests {
        @Test func `a log on a device without room counts every line as dropped`() async throws {
            let clock = ManualClock()
            let log = AccessLog(.json, to: .file("/dev/full"))
            let logger = try AccessLogger(log, timekeeper: clock.timekeeper)
            for number in 1...1_000 {
                logger.log(load: number)
                if number.isMultiple(of: 100) { clock.advance(by: .seconds(1)) }
            }
            #expect(await logger.close(within: .seconds(300)))
            #expect(logger.counts == LogCounts(dropped: 1_000))
        }

        @Test(.enabled(if: SmallDisk.isPossible))
        func `a log on a full disk has whole lines only, and continues when there is room`()
            async throws
        {
            let disk = try #require(SmallDisk())
            try Data(count: 20_000).write(to: disk.url("ballast"))
            let clock = ManualClock()
            let log = AccessLog(.json, to: .file(disk.url("log").path))
            let logger = try AccessLogger(log, timekeeper: clock.timekeeper)
            for number in 1...1_000 { logger.log(load: number) }
            await eventually { logger.counts.written + logger.counts.dropped == 1_000 }
            #expect(logger.counts.dropped > 0)
            let before = WrittenLog(try String(contentsOf: disk.url("log"), encoding: .utf8))
            #expect(before.loads.count == logger.counts.written)
            try FileManager.default.removeItem(at: disk.url("ballast"))
            // No attempt within a second of the last one.
            logger.log(load: 1_001)
            await eventually { logger.counts.written + logger.counts.dropped == 1_001 }
            #expect(logger.counts.written == before.loads.count)
            clock.advance(by: .seconds(1))
            logger.log(load: 1_002)
            #expect(await logger.close(within: .seconds(300)))
            let after = WrittenLog(try String(contentsOf: disk.url("log"), encoding: .utf8))
            #expect(after.loads == before.loads + [1_002])
            #expect(after.dropped == [logger.counts.dropped])
            #expect(logger.counts.written + logger.counts.dropped == 1_002)
        }
    }

    /// A file system of 64 KiB in memory, unmounted when it is released.
    private final class SmallDisk {
        private let directory = TemporaryDirectory()

        /// Whether the process may mount one.
        static var isPossible: Bool { SmallDisk() != nil }

        init?() {
            let path = directory.url.path
            guard mount("tmpfs", path, "tmpfs", 0, "size=65536") == 0 else { return nil }
        }

        deinit {
            umount2(directory.url.path, Int32(MNT_DETACH))
        }

        func url(_ name: String) -> URL { directory.url(name) }
    }
#endif
