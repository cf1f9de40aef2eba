// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// Several caches on one directory at once, and processes that are killed.
@Suite struct SharedDiskTests {
    private let bed = DiskBed()

    @Test func `many tasks of two caches store, look and remove, and no body is another's`()
        async throws
    {
        let caches = [
            try bed.cache(memory: 200_000),
            try bed.cache(DiskBed.settings(capacity: 3_000_000), memory: 0),
        ]
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(worker))
                    let cache = caches[worker % 2]
                    for _ in 0..<150 {
                        let path = "/\(Int.random(in: 0..<12, using: &generator))"
                        do {
                            switch Int.random(in: 0..<20, using: &generator) {
                            case 0: await cache.remove(testURL("https://origin.test" + path))
                            case 1 where worker == 0: await cache.removeAll()
                            case 2..<9:
                                let number = Int.random(in: 0..<10_000, using: &generator)
                                try await cache.put(NumberedResponse(path: path, number: number))
                            default: _ = try await cache.number(path)
                            }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        for cache in caches { await cache.isSettled() }
        #expect(!bed.paths.contains { $0.contains("new-") })
        for index in 0..<12 {
            let numbers = [
                try await caches[0].number("/\(index)"), try await caches[1].number("/\(index)"),
            ]
            #expect(numbers[0] == numbers[1])
        }
    }

    @Test func `no look that comes after a removal finds what was removed`() async throws {
        let cache = try bed.cache()
        for index in 0..<50 {
            let recall = try await cache.look("/a")
            let response = NumberedResponse(path: "/a", number: index)
            cache.keep(try response.response(), response.body, recall)
            cache.invalidate([try response.key().target])
            #expect(try await cache.number("/a") == nil)
            // A response that was on its way then is not stored.
            cache.keep(try response.response(), response.body, recall)
            #expect(try await cache.number("/a") == nil)
        }
        #expect(bed.entries.isEmpty)
    }

    @Test func `more than may wait to be written is not kept, and the older one is removed`()
        async throws
    {
        let blocker = Blocker()
        let mustBlock = Locked(false)
        let cache = try bed.cache(
            DiskBed.settings {
                $0.maxPending = 200_000
                $0.faults = DiskFaults { call in
                    if call == .create, mustBlock.withLock({ $0 }) { blocker.block() }
                    return nil
                }
            })
        try await cache.put(NumberedResponse(path: "/b", number: 2))
        await cache.isSettled()
        let recalls = [try await cache.look("/a"), try await cache.look("/b")]
        mustBlock.withLock { $0 = true }
        for (index, recall) in recalls.enumerated() {
            let response = NumberedResponse(path: ["/a", "/b"][index], number: 5)
            cache.keep(try response.response(), response.body, recall)
        }
        await blocker.blocks()
        blocker.release()
        // On a busy machine the disk was blocked for so long that look-ups pass it by.
        await cache.isSettled()
        #expect(try await cache.number("/a") == 5)
        #expect(try await cache.number("/b") == nil)
    }

    /// The number of rounds, in each of which two processes are killed: `CACHE_KILLS` in the
    /// environment counts the kills, for longer runs by hand.
    private static var rounds: Int {
        let kills = ProcessInfo.processInfo.environment["CACHE_KILLS"].flatMap { Int($0) } ?? 24
        return max(kills / 2, 1)
    }

    /// Stores responses until the process is killed by a thread of its own, at any moment.
    private static func storeUntilKilled(_ path: String, _ seed: Int) async throws {
        let cache = try ResponseCache.disk(
            at: URL(fileURLWithPath: path), DiskBed.settings { $0.log = { _ in } }, memory: 10_000)
        var generator = SeededGenerator(seed: UInt64(seed))
        let pause = UInt32.random(in: 0..<60_000, using: &generator)
        Thread.detachNewThread {
            usleep(pause)
            kill(getpid(), SIGKILL)
        }
        while true {
            // Where two processes change the variants of a path at once, one may remove what the
            // other has just stored: half of the paths have one variant, the others one process.
            let index = Int.random(in: 0..<20, using: &generator)
            let isShared = index < 10
            let place = isShared ? index : index / 2 * 2 + seed % 2
            let number = Int.random(in: 0..<100_000, using: &generator)
            let varies = !isShared && Bool.random(using: &generator)
            try await cache.put(
                NumberedResponse(path: "/\(place)", number: number, vary: varies ? "Foo" : nil))
        }
    }

    @Test
    func
        `a killed process loses no response but the one that it was writing, and leaves no wrong body`()
        async throws
    {
        let files = try bed.files()
        for index in 0..<10 {
            try files.store(NumberedResponse(path: "/old/\(index)", number: index))
        }
        var seen: Set<String> = []
        for round in 0..<Self.rounds {
            await withTaskGroup(of: Void.self) { group in
                for child in 0..<2 {
                    group.addTask {
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [path = bed.directory.path as String, seed = 2 * round + child as Int]
                            in
                            try await Self.storeUntilKilled(path, seed)
                        }
                    }
                }
            }
            let next = try bed.files()
            for index in 0..<10 { #expect(try next.number("/old/\(index)") == index) }
            for index in 0..<20 {
                let path = "/\(index)"
                let number = try next.number(path)
                // What was there once is there still: responses were only replaced.
                #expect(number != nil || !seen.contains(path))
                if number != nil { seen.insert(path) }
            }
        }
        print("stored by killed processes: \(seen.count) of 20 paths, \(bed.entries.count) files")
        let cache = try bed.cache(
            DiskBed.settings { $0.fileTime = { (Int64(time(nil)) + 100) * 1_000_000_000 } })
        await cache.isSettled()
        #expect(!bed.paths.contains { $0.contains("new-") })
    }
}
