// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// Full, read-only and broken disks, and processes that end in the middle of a call.
@Suite struct DiskFaultTests {
    private let bed = DiskBed()

    /// A disk whose changes fail for a time.
    private final class Disk: Sendable {
        let code = Locked<Int32?>(nil)
        let lines = Locked<[String]>([])
        let now = Locked(Instant(nanoseconds: 0))
        private let calls: Set<DiskFaults.Call>

        init(_ calls: Set<DiskFaults.Call>) {
            self.calls = calls
        }

        var settings: DiskSettings {
            DiskBed.settings {
                $0.faults = DiskFaults { [code, calls] call in
                    guard let code = code.withLock({ $0 }), calls.contains(call) else {
                        return nil
                    }
                    return call == .write ? .breaks(afterBytes: 10, code) : .fails(code)
                }
                $0.log = { [lines] line in lines.withLock { $0.append(line) } }
                $0.now = { [now] in now.withLock { $0 } }
            }
        }
    }

    @Test func `what cannot be removed takes bounded memory`() {
        var unremoved = Unremoved()
        for number: UInt64 in 0..<5_000 {
            unremoved.note(url: EntryName.URLDigest(high: number, low: number))
            unremoved.note(partition: number)
        }
        #expect(unremoved.isAll)
        #expect(unremoved.urls.isEmpty && unremoved.partitions.isEmpty)
    }

    @Test(arguments: [ENOSPC, EDQUOT, EIO])
    func `a full disk turns writes off for a minute, with one line of log`(code: Int32) throws {
        let disk = Disk([.write])
        let files = try bed.files(disk.settings)
        try files.store(NumberedResponse(path: "/a", number: 2))
        disk.code.withLock { $0 = code }
        #expect(try !files.store(NumberedResponse(path: "/b", number: 2)))
        #expect(try !files.store(NumberedResponse(path: "/c", number: 2)))
        #expect(files.state.outage.failures == 1)
        #expect(try files.number("/a") == 2)
        disk.now.withLock { $0 = $0 + .seconds(60) }
        #expect(try !files.store(NumberedResponse(path: "/c", number: 2)))
        #expect(files.state.outage.failures == 2)
        let expected =
            "DataLoading: the cache cannot be written (\(DiskFailure(code).words)); "
            + "it tries again every 60 s"
        #expect(disk.lines.withLock { $0 } == [expected])
        disk.code.withLock { $0 = nil }
        #expect(try !files.store(NumberedResponse(path: "/c", number: 2)))
        disk.now.withLock { $0 = $0 + .seconds(60) }
        #expect(try files.store(NumberedResponse(path: "/c", number: 3)))
        #expect(try files.number("/c") == 3)
        #expect(bed.paths.count == 2)
    }

    @Test
    func `a response that cannot be written takes the place of none on disk, and is in memory`()
        async throws
    {
        let disk = Disk([.write])
        let cache = try bed.cache(disk.settings)
        try await cache.put(NumberedResponse(path: "/a", number: 2))
        disk.code.withLock { $0 = ENOSPC }
        try await cache.put(NumberedResponse(path: "/a", number: 3))
        #expect(try await cache.number("/a") == 6 - 3)
        #expect(cache.statistics.writeFailures == 1)
        let other = try bed.cache()
        #expect(try await other.number("/a") == nil)
    }

    @Test(arguments: [[DiskFaults.Call.write], [.write, .remove]])
    func `a confirmed response whose file cannot be written anew answers no more`(
        calls: [DiskFaults.Call]
    ) throws {
        let disk = Disk(Set(calls))
        let files = try bed.files(disk.settings)
        let old = NumberedResponse(path: "/a", number: 2)
        try files.store(old)
        let response = try old.response()
        let moment = NumberedResponse.moment(old.time + 100)
        let confirmed = try #require(
            response.confirmed(
                by: ResponseHead(status: .notModified, headers: ["Cache-Control": "no-cache"]),
                to: [:],
                times: ResponseTimes(requested: moment.monotonic, received: moment),
                hasQuery: false))
        disk.code.withLock { $0 = ENOSPC }
        #expect(try !files.update(old, by: confirmed))
        #expect(try files.number("/a") == nil)
    }

    @Test func `on a read-only disk nothing that was removed answers, and the rest does`()
        async throws
    {
        let disk = Disk([.write, .create, .rename, .remove, .note])
        let cache = try bed.cache(disk.settings, memory: 0)
        for path in ["/a", "/b", "/c"] {
            try await cache.put(NumberedResponse(path: path, number: 2))
        }
        try await cache.put(NumberedResponse(path: "/c", number: 3, partition: .named("user")))
        disk.code.withLock { $0 = EROFS }
        await cache.remove(testURL("https://origin.test/a"))
        #expect(try await cache.number("/a") == nil)
        #expect(try await cache.number("/b") == 2)
        #expect(await !cache.forget(.named("user")))
        #expect(try await cache.number("/c", [:], .named("user")) == nil)
        #expect(try await cache.number("/c") == 2)
        #expect(await !cache.forgetAll())
        #expect(try await cache.number("/b") == nil)
        // Once the disk takes changes again, the removals are made up for.
        disk.code.withLock { $0 = nil }
        disk.now.withLock { $0 = $0 + .seconds(61) }
        #expect(try await cache.number("/b") == nil)
        #expect(bed.entries.isEmpty)
        try await cache.put(NumberedResponse(path: "/b", number: 4))
        #expect(try await cache.number("/b") == 4)
    }

    @Test(arguments: [1, 100_000])
    func `invalidations behind a disk that hangs take no more room than its files`(
        urls: Int
    ) async throws {
        let calls = Locked(0)
        let blocker = Blocker()
        let cache = try bed.cache(
            DiskBed.settings {
                $0.now = { [calls] in
                    calls.withLock { $0 += 1 }
                    return Instant(nanoseconds: 0)
                }
            }, memory: 0)
        try await cache.put(NumberedResponse(path: "/0", number: 2))
        await cache.isSettled()
        cache.disk?.perform { _ in blocker.block() }
        await blocker.blocks()
        calls.withLock { $0 = 0 }
        let targets = try (0..<urls).map {
            try NumberedResponse(path: "/\($0)", number: 0).key().target
        }
        for index in 0..<100_000 { cache.invalidate([targets[index % urls]]) }
        blocker.release()
        await cache.isSettled()
        #expect(calls.withLock { $0 } < 50_000)
        #expect(try await cache.number("/0") == nil)
        #expect(bed.entries.isEmpty)
    }

    @Test func `a directory without the right to write is read`() async throws {
        guard geteuid() != 0 else { return }
        let cache = try bed.cache()
        try await cache.put(NumberedResponse(path: "/a", number: 2))
        await cache.isSettled()
        let folder = bed.directory.appendingPathComponent(DiskDirectory.entries).path
        chmod(folder, 0o500)
        defer { chmod(folder, 0o700) }
        let lines = Locked<[String]>([])
        let other = try bed.cache(
            DiskBed.settings {
                $0.log = { line in lines.withLock { $0.append(line) } }
                $0.now = { Instant(nanoseconds: 0) }
            })
        #expect(try await other.number("/a") == 2)
        for index in 0..<300 {
            try await other.put(NumberedResponse(path: "/\(index)", number: 2))
        }
        #expect(other.statistics.writeFailures <= 1)
        #expect(lines.withLock { $0.count } == other.statistics.writeFailures)
    }

    @Test func `a file that cannot be read is no damaged file`() throws {
        for call in [DiskFaults.Call.open, .read, .status, .list] {
            let disk = Disk([call])
            let files = try bed.files(disk.settings)
            try files.store(NumberedResponse(path: "/a", number: 2))
            for code in [EIO, EMFILE, EACCES] {
                disk.code.withLock { $0 = code }
                #expect(try files.number("/a") == nil)
            }
            disk.code.withLock { $0 = nil }
            #expect(try files.number("/a") == 2)
        }
    }

    /// What may be stored for a path after a process has died.
    private typealias Expected = [String: Set<Int?>]

    /// What a new process finds that makes a difference; it chooses one of what may be stored.
    private func violation(_ expected: inout Expected, _ bed: DiskBed) throws -> String? {
        let files = try bed.files()
        for (path, numbers) in expected {
            let number = try files.number(path, ["Foo": "1"])
            guard numbers.contains(number) else {
                return "\(String(describing: number)) at \(path), not \(numbers)"
            }
            expected[path] = [number]
        }
        return nil
    }

    @Test func `a process that ends before any call of the system leaves whole responses only`()
        throws
    {
        // A kill shows in the files only as the calls that were not made, or a write cut short.
        try property(cases: max(propertyCases / 20, 50)) { generator in
            let bed = DiskBed()
            var expected: Expected = [:]
            var time = Int64(1_767_225_600)
            for _ in 0..<4 {
                let left = Locked(Int.random(in: 0...60, using: &generator))
                let part = Int.random(in: 0...70_000, using: &generator)
                let settings = DiskBed.settings {
                    $0.log = { _ in }
                    $0.faults = DiskFaults { call in
                        left.withLock { left in
                            left -= 1
                            guard left <= 0 else { return nil }
                            return left == 0 && call == .write
                                ? .breaks(afterBytes: part, EIO) : .fails(EIO)
                        }
                    }
                }
                guard let files = try? bed.files(settings) else { continue }
                while left.withLock({ $0 > 0 }) {
                    let path = "/\(Int.random(in: 0..<4, using: &generator))"
                    let number = Int.random(in: 0..<1_000, using: &generator)
                    let before = expected[path] ?? [nil]
                    var (after, allowed) = (Int?.none, before)
                    if Int.random(in: 0..<5, using: &generator) == 0 {
                        try? files.remove(path)
                        allowed.insert(nil)
                    } else {
                        allowed.insert(number)
                        time += 1
                        let vary = ["Foo", "Bar"].randomElement(using: &generator)
                        let isStored = try? files.store(
                            NumberedResponse(
                                path: path, number: number, vary: vary, request: ["Foo": "1"],
                                time: time))
                        if isStored == true { after = number }
                    }
                    let isAlive = left.withLock { $0 > 0 }
                    expected[path] = isAlive ? [after] : allowed
                }
                if let violation = try violation(&expected, bed) { return violation }
            }
            return nil
        }
    }
}
