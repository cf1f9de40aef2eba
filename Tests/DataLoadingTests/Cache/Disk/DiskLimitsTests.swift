// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A cache on disk with many small files, slow and silent disks, and locks that cannot be taken.
@Suite struct DiskLimitsTests {
    private let bed = DiskBed()

    @Test func `small responses count with the blocks that their files take`() async throws {
        let capacity = 400_000
        let cache = try bed.cache(DiskBed.settings(capacity: Int64(capacity)), memory: 0)
        for index in 0..<300 {
            try await cache.put(NumberedResponse(path: "/\(index)", number: 1))
        }
        await cache.isSettled()
        #expect(bed.entries.count <= capacity / 4_096)
        #expect(cache.statistics.bytes == bed.entries.count * 4_096)
        // Another process counts them alike.
        let other = try bed.cache(DiskBed.settings(capacity: Int64(capacity)), memory: 0)
        await other.isSettled()
        #expect(other.statistics.bytes == cache.statistics.bytes)
    }

    @Test func `files leave also where no lock can be made`() async throws {
        let capacity = 400_000
        let cache = try bed.cache(DiskBed.settings(capacity: Int64(capacity)), memory: 0)
        try FileManager.default.createDirectory(
            at: bed.directory.appendingPathComponent("lock"), withIntermediateDirectories: false)
        for index in 0..<300 {
            try await cache.put(NumberedResponse(path: "/\(index)", number: 6))
        }
        await cache.isSettled()
        #expect(cache.statistics.evicted > 0)
        #expect(cache.statistics.bytes <= capacity)
    }

    @Test func `a file that cannot be removed lets others leave in its place`() throws {
        let isStuck = Locked(false)
        let time = Locked(2_000_000_000_000_000_000)
        let files = try bed.files(
            DiskBed.settings {
                $0.fileTime = { Int64(time.add(1)) }
                $0.faults = DiskFaults { call in
                    call == .remove && isStuck.withLock { $0 } ? .fails(EPERM) : nil
                }
            })
        for path in ["/a", "/b", "/c"] { try files.store(NumberedResponse(path: path, number: 1)) }
        let first = try #require(files.state.index.victims(downTo: 0).first)
        isStuck.withLock { $0 = true }
        let isGone = files.state.evict(first)
        #expect(!isGone)
        let victims = files.state.index.victims(downTo: 0)
        #expect(victims.count == 3)
        #expect(victims.last?.name == first.name)
        isStuck.withLock { $0 = false }
        for victim in victims { _ = files.state.evict(victim) }
        #expect(files.state.index.bytes == 0)
    }

    @Test func `a removal that fails does not keep the others from leaving`() async throws {
        let failures = Locked(0)
        let capacity = 400_000
        let cache = try bed.cache(
            DiskBed.settings(capacity: Int64(capacity)) {
                $0.faults = DiskFaults { call in
                    call == .remove && failures.add(1) == 1 ? .fails(EPERM) : nil
                }
            }, memory: 0)
        for index in 0..<98 {
            try await cache.put(NumberedResponse(path: "/\(index)", number: 1))
        }
        await cache.isSettled()
        #expect(failures.withLock { $0 } > 1)
        #expect(cache.statistics.evicted > 0)
        #expect(cache.statistics.bytes < capacity)
    }

    @Test func `one process at a time has the lock for evictions`() throws {
        let directory = try bed.files().state.directory
        let lock = try #require(EvictionLock(directory))
        #expect(EvictionLock(directory) == nil)
        lock.release()
        #expect(EvictionLock(directory) != nil)
    }

    @Test(arguments: [
        ("no-cache", false), ("max-age=0", false), ("max-age=60", true),
        ("no-cache, stale-if-error=60", true),
    ])
    func `a confirmation that makes nothing fresh writes no file`(
        directives: String, isWritten: Bool
    ) async throws {
        let created = Locked(0)
        let cache = try bed.cache(
            DiskBed.settings {
                $0.faults = DiskFaults { call in
                    if call == .create { created.withLock { $0 += 1 } }
                    return nil
                }
            })
        let numbered = NumberedResponse(path: "/a", number: 2)
        try await cache.put(numbered)
        for seconds in [Int64(10), 20] {
            let recall = try await cache.look("/a")
            let old = try #require(recall.stored?.response)
            let moment = NumberedResponse.moment(numbered.time + seconds)
            let head = ResponseHead(
                status: .notModified,
                headers: [
                    "Cache-Control": directives, "Date": HTTPDateText.text(numbered.time + seconds),
                ])
            let new = try #require(
                old.confirmed(
                    by: head, to: [:],
                    times: ResponseTimes(requested: moment.monotonic, received: moment),
                    hasQuery: false))
            let before = created.withLock { $0 }
            cache.confirm(old, by: new, recall)
            await cache.whenDone()
            // The first one changes what the response says.
            #expect(created.withLock { $0 } == before + (isWritten || seconds == 10 ? 1 : 0))
        }
        #expect(try await cache.number("/a") == 2)
    }

    @Test func `a response that cannot be listed answers no more once a newer one was seen`() throws
    {
        let code = Locked<Int32?>(nil)
        let files = try bed.files(
            DiskBed.settings {
                $0.faults = DiskFaults { call in
                    guard let code = code.withLock({ $0 }), [.list, .create].contains(call) else {
                        return nil
                    }
                    return .fails(code)
                }
            })
        try files.store(NumberedResponse(path: "/a", number: 2))
        code.withLock { $0 = EMFILE }
        #expect(try !files.store(NumberedResponse(path: "/a", number: 3)))
        code.withLock { $0 = nil }
        #expect(try files.number("/a") == nil)
        #expect(try files.store(NumberedResponse(path: "/a", number: 4)))
        #expect(try files.number("/a") == 4)
    }

    @Test func `a disk that hangs while it makes room is silent too`() async throws {
        let blocker = Blocker()
        defer { blocker.release() }
        let now = Locked(Instant(nanoseconds: 0))
        let isArmed = Locked(false)
        let cache = try bed.cache(
            DiskBed.settings(capacity: 400_000) {
                $0.now = { now.withLock { $0 } }
                $0.patience = .seconds(2)
                $0.faults = DiskFaults { call in
                    if call == .remove, isArmed.withLock({ $0 }) { blocker.block() }
                    return nil
                }
            }, memory: 0)
        for index in 0..<97 {
            try await cache.put(NumberedResponse(path: "/\(index)", number: 1))
        }
        await cache.isSettled()
        isArmed.withLock { $0 = true }
        let last = NumberedResponse(path: "/last", number: 1)
        let recall = try await cache.look(last.path)
        cache.keep(try last.response(), last.body, recall)
        await blocker.blocks()
        now.withLock { $0 = $0 + .seconds(2) }
        #expect(cache.disk?.isSilent == true)
        blocker.release()
        await cache.isSettled()
        #expect(cache.disk?.isSilent == false)
        #expect(cache.statistics.evicted > 0)
    }

    @Test func `files that cannot be listed stay counted, and are listed again after a minute`()
        async throws
    {
        let first = try bed.cache()
        try await first.put(NumberedResponse(path: "/a", number: 2))
        await first.isSettled()
        let now = Locked(Instant(nanoseconds: 0))
        let code = Locked<Int32?>(EMFILE)
        let settings = DiskBed.settings {
            $0.now = { now.withLock { $0 } }
            $0.faults = DiskFaults { call in
                guard call == .list, let code = code.withLock({ $0 }) else { return nil }
                return .fails(code)
            }
        }
        let second = try bed.cache(settings)
        await second.isSettled()
        #expect(second.statistics.bytes == 0)
        code.withLock { $0 = nil }
        now.withLock { $0 = $0 + .seconds(60) }
        // The next call begins to list them.
        await second.whenDone()
        await second.isSettled()
        #expect(second.statistics.bytes == first.statistics.bytes)
        let files = try bed.files(settings)
        try files.store(NumberedResponse(path: "/b", number: 2))
        code.withLock { $0 = EMFILE }
        let before = files.state.index.bytes
        files.state.index.beginScan()
        files.state.index.endScan(DiskScan.run(files.state.directory, now: 0))
        #expect(before > 0)
        #expect(files.state.index.bytes == before)
    }

    @Test func `loads pass by a disk that has been silent for two seconds`() async throws {
        let loads = DiskLoadBed()
        try await loads.store(Data("stored".utf8))
        let blocker = Blocker()
        defer { blocker.release() }
        let now = Locked(Instant(nanoseconds: 0))
        let (service, cache) = try loads.process(
            [loads.fresh(Data("sent".utf8))],
            DiskBed.settings {
                $0.now = { now.withLock { $0 } }
                $0.patience = .seconds(2)
                $0.faults = DiskFaults { call in
                    if call == .open { blocker.block() }
                    return nil
                }
            })
        service.loader.perform(.make())
        await blocker.blocks()
        now.withLock { $0 = $0 + .seconds(2) }
        let sent = try await service.loader.response(for: .make())
        #expect(sent.body == Data("sent".utf8))
        #expect(sent.metrics.source == .network)
        await #expect(throws: DataLoaderError.notCached) {
            try await service.loader.response(for: .make { $0.cachePolicy = .cacheOnly })
        }
        blocker.release()
        // The one that waited has its answer.
        let first = await service.delegate.outcomes(1)[0].response
        #expect(first?.metrics.source == .cache)
        await cache.isSettled()
        let next = try await service.loader.response(for: .make())
        #expect(next.body == Data("sent".utf8))
        #expect(next.metrics.source == .cache)
        service.expectNothingLeft()
    }
}
