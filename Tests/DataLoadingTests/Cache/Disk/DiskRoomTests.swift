// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// The room of a cache on disk, and what leaves for others.
@Suite struct DiskRoomTests {
    private let bed = DiskBed()

    private func path(_ entry: String) -> String {
        bed.directory.appendingPathComponent(entry).path
    }

    /// Sets when a file was used last.
    private func setUse(_ entry: String, _ seconds: Int) {
        let times = [timespec(tv_sec: .init(seconds), tv_nsec: 0), .unchanged]
        utimensat(AT_FDCWD, path(entry), times, 0)
    }

    @Test func `the files that were not used for longest leave, also those of an earlier process`()
        async throws
    {
        let first = try bed.cache()
        var entries: [String] = []
        for index in 0..<10 {
            try await first.put(NumberedResponse(path: "/\(index)", number: 5))
            await first.whenDone()
            let new = try #require(bed.entries.first { !entries.contains($0) })
            entries.append(new)
        }
        await first.isSettled()
        let length = first.statistics.bytes / 10
        // The use of an earlier process is what the times of the files say: 3 and 7 are the oldest.
        for (index, entry) in entries.enumerated() {
            setUse(entry, 1_900_000_000 + ([3, 7].contains(index) ? 0 : 100 + index))
        }
        let second = try bed.cache(
            DiskBed.settings(capacity: Int64(length * 10 + length / 2)) {
                $0.fileTime = { 1_900_001_000_000_000_000 }
            }, memory: 0)
        await second.isSettled()
        #expect(second.statistics.bytes == length * 10)
        // A look is a use: 0 is no longer the next one.
        #expect(try await second.number("/0") == 5)
        try await second.put(NumberedResponse(path: "/x", number: 5))
        await second.isSettled()
        #expect(second.statistics.evicted == 2)
        #expect(second.statistics.bytes == length * 9)
        for (index, entry) in entries.enumerated() {
            let isThere = FileManager.default.fileExists(atPath: path(entry))
            #expect(isThere == ![3, 7].contains(index))
        }
        #expect(try await second.number("/x") == 5)
    }

    @Test func `the room is kept while many responses are written`() async throws {
        let capacity = 2_000_000
        let cache = try bed.cache(DiskBed.settings(capacity: Int64(capacity)), memory: 100_000)
        for index in 0..<400 {
            try await cache.put(NumberedResponse(path: "/\(index)", number: index))
        }
        await cache.isSettled()
        let bytes = bed.entries.reduce(0) { sum, entry in
            let values = try? FileManager.default.attributesOfItem(atPath: path(entry))
            return sum + ((values?[.size] as? Int) ?? 0)
        }
        // Each file counts in whole blocks.
        #expect(bytes <= cache.statistics.bytes)
        #expect(cache.statistics.bytes <= capacity)
        #expect(cache.statistics.evicted > 0)
        // The last one is there.
        #expect(try await cache.number("/399") == 399)
    }

    @Test func `two processes keep the room together`() async throws {
        let capacity = 2_000_000
        let settings = DiskBed.settings(capacity: Int64(capacity))
        let caches = [try bed.cache(settings), try bed.cache(settings)]
        for index in 0..<200 {
            for (number, cache) in caches.enumerated() {
                try await cache.put(NumberedResponse(path: "/\(number)/\(index)", number: index))
            }
        }
        for cache in caches { await cache.isSettled() }
        let bytes = bed.entries.reduce(0) { sum, entry in
            let values = try? FileManager.default.attributesOfItem(atPath: path(entry))
            return sum + ((values?[.size] as? Int) ?? 0)
        }
        #expect(bytes <= capacity + 2 * capacity / 16)
    }

    @Test func `a response that is larger than a quarter of the room is not kept`() async throws {
        let cache = try bed.cache(DiskBed.settings(capacity: 100_000))
        #expect(cache.maxBody == 25_000)
        try await cache.put(NumberedResponse(path: "/a", number: 2))
        #expect(try await cache.number("/a") == 2)
        try await cache.put(NumberedResponse(path: "/a", number: 3))
        #expect(try await cache.number("/a") == nil)
        #expect(bed.entries.isEmpty)
    }

    @Test func `what killed processes have left is removed when it is old`() async throws {
        let first = try bed.cache()
        try await first.put(NumberedResponse(path: "/a", number: 2))
        await first.isSettled()
        let folder = try #require(bed.entries.first).dropLast(67)
        let old = bed.directory.appendingPathComponent("\(folder)/new-1-1")
        let present = bed.directory.appendingPathComponent("\(folder)/new-1-2")
        let other = bed.directory.appendingPathComponent("\(folder)/other")
        let tree = bed.directory.appendingPathComponent("removed-1-1/00")
        try FileManager.default.createDirectory(at: tree, withIntermediateDirectories: true)
        for file in [old, present, other, tree.appendingPathComponent("a")] {
            try Data("half".utf8).write(to: file)
        }
        try bed.temporary.age(old)
        try bed.temporary.age(other)
        let second = try bed.cache()
        await second.isSettled()
        #expect(
            Set(bed.paths) == [
                try #require(
                    bed.entries.first { $0.hasSuffix("other") == false && !$0.contains("new-") }),
                "\(folder)/new-1-2", "\(folder)/other",
            ])
        #expect(try await second.number("/a") == 2)
    }

    @Test func `a use is noted at its file once in an interval`() throws {
        let now = Locked<Int64>(2_000_000_000_000_000_000)
        let notes = Locked(0)
        let files = try bed.files(
            DiskBed.settings {
                $0.fileTime = { now.withLock { $0 } }
                $0.faults = DiskFaults { call in
                    if call == .note { notes.withLock { $0 += 1 } }
                    return nil
                }
            })
        try files.store(NumberedResponse(path: "/a", number: 2))
        for _ in 0..<10 { _ = try files.number("/a") }
        #expect(notes.withLock { $0 } == 0)
        now.withLock { $0 += 60_000_000_000 }
        for _ in 0..<10 { _ = try files.number("/a") }
        #expect(notes.withLock { $0 } == 1)
        let status = try files.state.directory.status(try #require(bed.entries.first))
        #expect(status.usedAt.tv_sec == 2_000_000_060)
    }
}
