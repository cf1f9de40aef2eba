// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingCache
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// Continued downloads with redirects, retries, authorisers, limits and ends from outside.
@Suite struct ResumedFileLoadTests {
    private typealias Bed = ResumedFileBed
    private let bed = ResumedFileBed()
    private static let digest = SHA256Tests.hex(patternBytes(100))

    private static func redirect(_ location: String) -> ScriptedAnswer {
        .respond(status: 302, headers: ["Location": location])
    }

    @Test func `a part of a redirect's target is continued there and not before`() async {
        await bed.load([Self.redirect("http://other.test/b"), Bed.breaks(after: 40)])
        #expect(bed.part == patternBytes(40))
        let next = await bed.load([Self.redirect("http://other.test/b"), Bed.rest(from: 39)])
        #expect(next.error == nil)
        #expect(next.ranges == [nil, "bytes=39-"])
        #expect(bed.content == patternBytes(100))
    }

    // The validator of one URL says nothing about another, but a hash says what the file is.
    @Test func `a redirect to another target continues a part only with a hash of the file`()
        async
    {
        for digest in [nil, Self.digest] {
            let request = bed.request(sha256: digest)
            await bed.load(request, [Self.redirect("/b?signature=1"), Bed.breaks(after: 40)])
            let answer = digest == nil ? Bed.whole : Bed.rest(from: 39)
            let next = await bed.load(request, [Self.redirect("/b?signature=2"), answer])
            #expect(next.error == nil)
            #expect(next.ranges == (digest == nil ? [nil, nil] : ["bytes=39-", "bytes=39-"]))
            #expect(bed.content == patternBytes(100))
        }
    }

    @Test func `a part is continued after a 401, a retry and another address`() async {
        await bed.leavePart()
        let scripted = TestBed(
            [
                .respond(status: 401), .respond(status: 503), .fail(.connectRefused),
                Bed.rest(from: 39, to: 59), Bed.rest(from: 60),
            ], authorisers: [TestAuthoriser()])
        let request = bed.request { $0.retryPolicy = .immediately(maximumRetries: 5) }
        scripted.loader.perform(request)
        #expect(await scripted.outcome()?.response?.error == nil)
        let ranges = scripted.transport.attempts.map { $0.request.headers["Range"] }
        #expect(ranges == Array(repeating: "bytes=39-", count: 4) + ["bytes=60-"])
        #expect(bed.content == patternBytes(100))
        scripted.expectNothingLeft()
    }

    @Test func `a part that grew in a retry is continued by the next load`() async {
        await bed.leavePart(20)
        let request = bed.request { $0.retryPolicy = .immediately(maximumRetries: 1) }
        let second = await bed.load(
            request,
            [
                .run { attempt in
                    attempt.sendHead(
                        status: 206,
                        headers: ["ETag": "\"v1\"", "Content-Range": "bytes 19-99/100"])
                    attempt.send(patternBytes(31, from: 19))
                    attempt.fail(.connectionReset, sent: .headReceived)
                }, Bed.rest(from: 50, to: 69, count: 15),
            ])
        #expect(second.ranges == ["bytes=19-", "bytes=50-"])
        #expect(second.error == .truncatedBody)
        #expect(bed.part == patternBytes(65))
        #expect(await bed.load([Bed.rest(from: 64)]).error == nil)
        #expect(bed.content == patternBytes(100))
    }

    @Test func `progress and the limit count the bytes of the part`() async {
        await bed.leavePart()
        let heard = EventRecorder<BodyProgress>()
        let small = await bed.load(bed.request(limit: 60), [Bed.whole])
        #expect(small.error == .bodyTooLarge(limit: 60))
        #expect(bed.part == patternBytes(40))
        let request = bed.request(limit: 100) { $0.downloadProgress = { heard.record($0) } }
        #expect(await bed.load(request, [Bed.rest(from: 39)]).error == nil)
        #expect(heard.elements.allSatisfy { $0.completed >= 39 })
        #expect(heard.elements.last == BodyProgress(completed: 100, total: 100))
    }

    enum Ending: CaseIterable, Sendable {
        case failure, cancellation, deadline, reset, invalidation, drop
    }

    @Test(arguments: Ending.allCases)
    func `every end of a load but a success keeps its part`(ending: Ending) async throws {
        try bed.directory.write(Data("old".utf8), to: "file")
        let scripted = TestBed()
        var loader: DataLoader? = scripted.factory.makeDataLoader(delegate: scripted.delegate)
        let token = loader?.perform(bed.request { $0.timeout = .seconds(100) })
        let attempt = await scripted.attempt(0)
        attempt.sendHead(status: 200, headers: Bed.tagged)
        attempt.send(patternBytes(40))
        // What waits for a sink is dropped with its load.
        await eventually { bed.part == patternBytes(40) }
        switch ending {
        case .failure: attempt.fail(.connectionReset, sent: .headReceived)
        case .cancellation: token?.cancel()
        case .deadline: scripted.advance(.seconds(100))
        case .reset: await scripted.factory.reset()
        case .invalidation: scripted.service.invalidateAndCancel()
        case .drop: loader = nil
        }
        await scripted.service.runtime.liveLoads.waitUntilEmpty(atMost: .seconds(1_000))
        #expect(bed.content == Data("old".utf8))
        #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
        #expect(bed.content == patternBytes(100))
        #expect(bed.directory.names == ["file"])
        withExtendedLifetime(loader) {}
    }

    @Test func `a second load to the same file ends at once and sends nothing`() async throws {
        let first = TestBed()
        first.loader.perform(bed.request())
        let attempt = await first.attempt(0)
        attempt.sendHead(status: 200, headers: Bed.tagged)
        attempt.send(patternBytes(40))
        let second = await bed.load(bed.request("/other"), [Bed.whole])
        guard case .responseSink(let reason) = second.error?.kind else {
            Issue.record("\(String(describing: second.error))")
            return
        }
        #expect(reason.hasPrefix("another load is writing the file"))
        #expect(second.error?.phase == .preparing)
        #expect((second.error?.underlyingError as? POSIXError)?.code == .EAGAIN)
        #expect(second.sent.isEmpty)
        attempt.send(patternBytes(60, from: 40))
        attempt.end()
        #expect(await first.outcome()?.response?.error == nil)
        #expect(bed.content == patternBytes(100))
        first.expectNothingLeft()
        #expect(await bed.load([Bed.whole]).error == nil)
    }

    #if os(Linux)
        // Until a process that is being started runs its own program, it has every descriptor too.
        @Test func `a part is free for the next load though a copy of its descriptor is open`()
            async throws
        {
            let copy = Locked<Int32>(-1)
            await bed.load([
                .run { [place = bed.place] attempt in
                    attempt.sendHead(status: 200, headers: Bed.tagged)
                    attempt.send(patternBytes(40))
                    copy.withLock { $0 = Self.copyOfDescriptor(of: place.part) }
                    attempt.fail(.truncatedBody, sent: .headReceived)
                }
            ])
            defer { close(copy.withLock(\.self)) }
            #expect(bed.part == patternBytes(40))
            #expect(await bed.load([Bed.rest(from: 39)]).error == nil)
            #expect(bed.content == patternBytes(100))
        }

        /// Copies the descriptor of a file, once this process has opened it.
        private static func copyOfDescriptor(of path: String) -> Int32 {
            let end = ContinuousClock.now + .seconds(60)
            while .now < end {
                var (file, opened) = (stat(), stat())
                guard stat(path, &file) == 0 else { continue }
                for number in Int32(0)..<1_024
                where fstat(number, &opened) == 0 && opened.st_ino == file.st_ino
                    && opened.st_dev == file.st_dev
                {
                    return dup(number)
                }
            }
            return -1
        }
    #endif

    @Test func `a stored response becomes the file, whatever part there is`() async throws {
        await bed.leavePart()
        let caching = CacheBed()
        let scripted = caching.bed([fresh("stored")])
        _ = try await scripted.loader.response(for: .make())
        let response = try await scripted.loader.response(for: bed.request())
        #expect(response.metrics.source == .cache)
        #expect(response.error == nil)
        #expect(bed.content == Data("stored".utf8))
        #expect(bed.directory.names == ["file"])
        scripted.expectNothingLeft()
    }

    @Test func `a continued file is not stored as a response`() async throws {
        await bed.leavePart()
        let caching = CacheBed()
        let scripted = caching.bed([
            Bed.rest(from: 39, ["ETag": "\"v1\"", "Cache-Control": "max-age=60"])
        ])
        let response = try await scripted.loader.response(for: bed.request())
        #expect(response.error == nil)
        #expect(bed.content == patternBytes(100))
        await #expect(throws: DataLoaderError.connectRefused) {
            try await scripted.loader.response(for: .make())
        }
    }

    #if os(Linux)
        @Test func `a full disk keeps the part, which is continued when there is room`() async {
            await #expect(processExitsWith: .success) {
                // The system's file size limit simulates a full disk.
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 5_000, rlim_max: rlim_t.max)
                let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
                guard setrlimit(kind, &limit) == 0 else { exit(2) }
                let bed = ResumedFileBed()
                let first = await bed.load([
                    .respond(
                        status: 200, headers: ["ETag": "\"v1\""], body: patternBytes(9_000))
                ])
                guard case .responseSink = first.error?.kind else { exit(3) }
                guard bed.part == patternBytes(5_000), bed.content == nil else { exit(4) }
                limit.rlim_cur = rlim_t.max
                guard setrlimit(kind, &limit) == 0 else { exit(5) }
                let next = await bed.load([Bed.rest(from: 4_999, to: 8_999, of: 9_000)])
                guard next.error == nil, bed.content == patternBytes(9_000) else { exit(6) }
            }
        }
    #endif
}
