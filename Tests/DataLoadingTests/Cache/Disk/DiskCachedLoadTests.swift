// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingCache
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Loads of services with a cache on disk.
@Suite struct DiskCachedLoadTests {
    private let bed = DiskLoadBed()

    @Test(arguments: [0, 10, 100_000, 100_001, 3_000_000])
    func `a response is a hit after a restart, in whole, in chunks and in a file`(
        length: Int
    ) async throws {
        let body = patternBytes(length)
        try await bed.store(body)
        let (service, _) = try bed.process()
        let whole = try await service.loader.response(for: .make())
        #expect(whole.body == body)
        #expect(whole.metrics.source == .cache)
        #expect(whole.metrics.bytesDownloaded == 0)
        var chunks = Data()
        for try await chunk in service.loader.chunks(for: .make()) { chunks += chunk }
        #expect(chunks == body)
        let file = bed.disk.temporary.url("file")
        _ = try await service.loader.response(for: .make { $0.responseSink = .file(file) })
        #expect(try Data(contentsOf: file) == body)
        #expect(service.transport.attempts.isEmpty)
        service.expectNothingLeft()
    }

    @Test func `a reader in chunks keeps the file from being read ahead of it`() async throws {
        try await bed.store(bed.large)
        let reads = Locked(0)
        let (service, _) = try bed.process(
            [],
            DiskBed.settings {
                $0.faults = DiskFaults { call in
                    if call == .read { reads.withLock { $0 += 1 } }
                    return nil
                }
            })
        let iterator = service.loader.chunks(for: .make()).makeAsyncIterator()
        var received = Data()
        var pieces = 0
        while let chunk = try await iterator.next() {
            received += chunk
            pieces += 1
            // The head, the blocks that were taken, the window, and one on its way to it.
            #expect(reads.withLock { $0 } <= pieces + 1 + ChunkWindow.size / 65_536 + 2)
        }
        #expect(received == bed.large)
        #expect(pieces == EntryHead.blockCount(bed.large.count))
        service.expectNothingLeft()
    }

    /// Settings by which calls of a kind block from the nth one on.
    private func blocking(
        _ call: DiskFaults.Call, from number: Int, _ blocker: Blocker
    ) -> DiskSettings {
        let count = Locked(0)
        return DiskBed.settings {
            $0.faults = DiskFaults { made in
                guard made == call else { return nil }
                let mustBlock = count.withLock { count in
                    count += 1
                    return count >= number
                }
                if mustBlock { blocker.block() }
                return nil
            }
        }
    }

    @Test func `a load can be cancelled while its body is being read`() async throws {
        try await bed.store(bed.large)
        let blocker = Blocker()
        defer { blocker.release() }
        let (service, _) = try bed.process([], blocking(.read, from: 3, blocker))
        let token = service.loader.perform(.make())
        await blocker.blocks()
        token.cancel()
        let outcome = await service.delegate.outcomes(1)
        #expect(outcome[0].response == nil)
        service.expectNothingLeft()
    }

    @Test func `a load ends at its deadline while its body is being read`() async throws {
        try await bed.store(bed.large)
        let blocker = Blocker()
        defer { blocker.release() }
        let (service, _) = try bed.process([], blocking(.read, from: 3, blocker))
        service.loader.perform(.make { $0.timeout = .seconds(5) })
        await blocker.blocks()
        service.advance(.seconds(5))
        let outcome = await service.delegate.outcomes(1)
        #expect(
            outcome[0].response?.error
                == .timedOut(after: .seconds(5), mayHaveBeenProcessed: true))
        service.expectNothingLeft()
    }

    @Test(arguments: [false, true])
    func `a load ends at its deadline, or when it is cancelled, while the disk blocks its look-up`(
        isCancelled: Bool
    ) async throws {
        try await bed.store(Data("body".utf8))
        let blocker = Blocker()
        defer { blocker.release() }
        let (service, _) = try bed.process([], blocking(.open, from: 1, blocker))
        let token = service.loader.perform(.make { $0.timeout = .seconds(5) })
        await blocker.blocks()
        if isCancelled { token.cancel() } else { service.advance(.seconds(5)) }
        let outcome = await service.delegate.outcomes(1)
        if isCancelled {
            #expect(outcome[0].response == nil)
        } else {
            #expect(
                outcome[0].response?.error
                    == .timedOut(after: .seconds(5), mayHaveBeenProcessed: false))
        }
        #expect(service.transport.attempts.isEmpty)
        service.expectNothingLeft()
    }

    @Test
    func `a stored response of an earlier process is validated, and its file has the new times`()
        async throws
    {
        try await bed.store(bed.large, ["ETag": "\"1\""])
        let later = ManualClock(date: Date(timeIntervalSince1970: 1_767_226_000))
        let confirmation = ScriptedAnswer.respond(
            status: 304, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=100"])
        let (service, cache) = try bed.process([confirmation], clock: later)
        let response = try await service.loader.response(for: .make())
        #expect(response.body == bed.large)
        #expect(response.metrics.source == .validated)
        #expect(service.transport.attempts[0].request.headers["If-None-Match"] == "\"1\"")
        await cache.isSettled()
        let (next, _) = try bed.process(
            clock: ManualClock(date: Date(timeIntervalSince1970: 1_767_226_090)))
        let hit = try await next.loader.response(for: .make())
        #expect(hit.body == bed.large)
        #expect(hit.headers["Age"] == "90")
        #expect(bed.disk.entries.count == 1)
    }

    @Test func `ages count across a restart, and a clock that went back makes none young`()
        async throws
    {
        try await bed.store(Data("old".utf8))
        let (later, _) = try bed.process(
            [], clock: ManualClock(date: Date(timeIntervalSince1970: 1_767_225_630)))
        let hit = try await later.loader.response(for: .make())
        #expect(hit.headers["Age"] == "30")
        let (earlier, cache) = try bed.process(
            [bed.fresh(Data("new".utf8))],
            clock: ManualClock(date: Date(timeIntervalSince1970: 1_767_225_599)))
        let asked = try await earlier.loader.response(for: .make())
        #expect(asked.body == Data("new".utf8))
        await cache.isSettled()
        // In the process that has received it, the monotonic clock counts.
        earlier.clock.setDate(Date(timeIntervalSince1970: 0))
        earlier.advance(.seconds(59))
        let own = try await earlier.loader.response(for: .make())
        #expect(own.headers["Age"] == "59")
        earlier.advance(.seconds(1))
        await #expect(throws: DataLoaderError.connectRefused) {
            try await earlier.loader.response(for: .make())
        }
    }

    @Test
    func `a clock that goes back after the start makes the response of another process no younger`()
        async throws
    {
        try await bed.store(Data("old".utf8))
        let clock = ManualClock(date: Date(timeIntervalSince1970: 1_767_225_630))
        let (service, _) = try bed.process([], clock: clock)
        _ = try await service.loader.response(for: .make())
        clock.setDate(Date(timeIntervalSince1970: 1_767_225_601))
        service.advance(.seconds(29))
        let hit = try await service.loader.response(for: .make())
        #expect(hit.headers["Age"] == "59")
        service.advance(.seconds(1))
        await #expect(throws: DataLoaderError.connectRefused) {
            try await service.loader.response(for: .make())
        }
    }

    @Test
    func `a removal and a new response of another process are seen, also by what is in memory`()
        async throws
    {
        let (one, first) = try bed.process([bed.fresh(Data("1".utf8)), bed.fresh(Data("3".utf8))])
        let (two, second) = try bed.process([bed.fresh(Data("2".utf8))])
        _ = try await one.loader.response(for: .make())
        await first.isSettled()
        #expect(try await two.loader.response(for: .make()).body == Data("1".utf8))
        _ = try await two.loader.response(for: .make { $0.cachePolicy = .reload })
        await second.isSettled()
        #expect(try await one.loader.response(for: .make()).body == Data("2".utf8))
        await second.remove(testURL("http://origin.test/"))
        #expect(try await one.loader.response(for: .make()).body == Data("3".utf8))
        await first.isSettled()
        #expect(try await two.loader.response(for: .make()).body == Data("3".utf8))
    }

    @Test
    func `a named partition is there after a restart, under a digest, and an unnamed one is not`()
        async throws
    {
        func loader(_ service: TestBed, _ partition: String?) -> DataLoader {
            service.service.makeFactory(
                authorisers: [TestAuthoriser(.add("X-Key", "k"))], cachePartition: partition
            ).makeDataLoader()
        }
        let (first, cache) = try bed.process(["0", "1", "2"].map { bed.fresh(Data($0.utf8)) })
        for partition in ["user", "other", nil] {
            _ = try await loader(first, partition).response(for: .make())
        }
        await cache.isSettled()
        #expect(bed.disk.entries.count == 2)
        #expect(!bed.disk.paths.contains { $0.contains("user") })
        let (second, _) = try bed.process([bed.fresh(Data("3".utf8))])
        var bodies: [Data?] = []
        for partition in ["user", "other", nil] {
            bodies.append(try await loader(second, partition).response(for: .make()).body)
        }
        #expect(bodies == ["0", "1", "3"].map { Data($0.utf8) })
    }

    @Test func `a reset removes all files, and that of a factory those of its partition`()
        async throws
    {
        let (service, cache) = try bed.process(["0", "1", "2"].map { bed.fresh(Data($0.utf8)) })
        let factory = service.service.makeFactory(
            authorisers: [TestAuthoriser(.add("X-Key", "k"))], cachePartition: "user")
        _ = try await service.loader.response(for: .make())
        _ = try await factory.makeDataLoader().response(for: .make())
        await cache.isSettled()
        #expect(bed.disk.entries.count == 2)
        #expect(await factory.reset().isEmpty)
        #expect(bed.disk.entries.count == 1)
        #expect(await service.service.reset().isEmpty)
        #expect(bed.disk.entries.isEmpty)
        await cache.isSettled()
        #expect(bed.disk.paths.isEmpty)
        #expect(cache.statistics.bytes == 0)
    }
}
