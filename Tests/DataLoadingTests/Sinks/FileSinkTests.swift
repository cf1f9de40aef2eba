// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// A download goes directly to a file, which is complete or unchanged.
@Suite struct FileSinkTests {
    private let directory = TemporaryDirectory()
    private var destination: URL { directory.url("file") }

    private func get(_ change: (inout DataLoaderRequest) -> Void = { _ in }) -> DataLoaderRequest {
        .make { request in
            request.responseSink = .file(destination)
            change(&request)
        }
    }

    private func content() -> Data? { try? Data(contentsOf: destination) }

    @Test func `a file sink gets the body of a success in every calling style`() async throws {
        let body = patternBytes(300_000)
        let bed = TestBed(otherwise: .respond(status: 200, body: body))
        bed.loader.perform(get())
        let heard = try #require(await bed.outcome()?.response)
        #expect(heard.error == nil)
        #expect(heard.body == nil)
        #expect(heard.bodyFile == destination)
        let isWhole = content() == body
        #expect(isWhole)
        try FileManager.default.removeItem(at: destination)

        let awaited = try await bed.loader.response(for: get())
        #expect(awaited.bodyFile == destination)
        try FileManager.default.removeItem(at: destination)

        var synchronized = get()
        synchronized.responseSink = .file(destination, synchronizes: true)
        let ended = EventRecorder<URL?>()
        let call = bed.loader.request(testURL("http://origin.test/"))
        call.modify { [synchronized] in $0 = synchronized }
            .response { ended.record($0.response.bodyFile) }
        #expect(await ended.first(1) == [destination])
        let isWholeAgain = content() == body
        #expect(isWholeAgain)
        #expect(directory.names == ["file"])
        bed.expectNothingLeft()
    }

    @Test func `a file sink is empty without a body, and bodies are in memory by default`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 204))
        #expect(try await bed.loader.response(for: get()).bodyFile == destination)
        #expect(content() == Data())
        let plain = try await bed.loader.response(for: .make())
        #expect(plain.body == Data())
        #expect(plain.bodyFile == nil)
    }

    @Test func `a file sink replaces its file in one step when the body is complete`() async throws
    {
        try directory.write(Data("old".utf8), to: "file")
        let bed = TestBed()
        bed.loader.perform(get())
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(1_000))
        bed.settle()
        #expect(content() == Data("old".utf8))
        attempt.send(patternBytes(1_000, from: 1_000))
        attempt.end()
        _ = await bed.outcome()
        #expect(content() == patternBytes(2_000))
        #expect(directory.names == ["file"])
    }

    enum Ending: CaseIterable, Sendable {
        case failure, cancellation, deadline, reset, invalidation, drop
    }

    @Test(arguments: Ending.allCases, [true, false])
    func `a file sink keeps the old file and leaves nothing else when the load fails`(
        ending: Ending, exists: Bool
    ) async throws {
        if exists { try directory.write(Data("old".utf8), to: "file") }
        let reported = ReportNotice()
        let bed = TestBed()
        bed.service.addConsumptionObserver(reported, on: DispatchQueue(label: "notice"))
        var loader: DataLoader? = bed.factory.makeDataLoader(
            delegate: bed.delegate, delivery: .ofTests)
        let token = loader?.perform(get { $0.timeout = .seconds(100) })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(100_000))
        switch ending {
        case .failure: attempt.fail(.connectionReset, sent: .headReceived)
        case .cancellation: token?.cancel()
        case .deadline: bed.advance(.seconds(100))
        case .reset: await bed.factory.reset()
        case .invalidation: bed.service.invalidateAndCancel()
        case .drop: loader = nil
        }
        // The report to observers is the last event of a load, even of a released loader.
        _ = await reported.reports.first(1)
        await bed.service.runtime.liveLoads.waitUntilEmpty(atMost: .seconds(1_000))
        #expect(content() == (exists ? Data("old".utf8) : nil))
        #expect(directory.names == (exists ? ["file"] : []))
        bed.expectNothingLeft()
        withExtendedLifetime(loader) {}
    }

    @Test func `a file sink gets no error body, which is delivered in memory`() async throws {
        let bed = TestBed(otherwise: .respond(status: 404, body: Data("gone".utf8)))
        let response = try await bed.loader.response(for: get())
        #expect(response.error == .status(.notFound))
        #expect(response.body == Data("gone".utf8))
        #expect(response.bodyFile == nil)
        #expect(directory.names.isEmpty)
    }

    // Attempts that are retried, authorised again or redirected write nothing.
    @Test func `a file sink gets nothing of an attempt that is retried or redirected`() async throws
    {
        let bed = TestBed(
            [
                .respond(status: 503, body: Data("busy".utf8)),
                .respond(status: 302, headers: ["Location": "/b"], body: Data("moved".utf8)),
                .respond(status: 401, body: Data("who".utf8)),
                .respond(status: 200, body: Data("here".utf8)),
            ], authorisers: [TestAuthoriser()])
        let response = try await bed.loader.response(
            for: get { $0.retryPolicy = .immediately(maximumRetries: 1) })
        #expect(response.metrics.attempts == 4)
        #expect(content() == Data("here".utf8))
        #expect(directory.names == ["file"])
    }

    @Test func `a file sink starts over when a broken body is loaded again`() async throws {
        let bed = TestBed([
            .run { attempt in
                attempt.sendHead(status: 200, headers: [:])
                attempt.send(patternBytes(200_000))
                attempt.fail(.truncatedBody, sent: .headReceived)
            },
            .respond(status: 200, body: Data("short".utf8)),
        ])
        let response = try await bed.loader.response(
            for: get { $0.retryPolicy = .immediately(maximumRetries: 1) })
        #expect(response.error == nil)
        #expect(content() == Data("short".utf8))
    }

    @Test func `a file sink that cannot be written ends the load and leaves nothing`() async throws
    {
        let folder = directory.url("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let reasons = [
            directory.url("missing/file"): "No such file", folder: "s a directory",
            directory.url(String(repeating: "n", count: 256)): "name too long",
            testURL("http://origin.test/"): "not the URL of a file",
        ]
        for (place, reason) in reasons {
            let bed = TestBed(otherwise: .respond(status: 200, body: patternBytes(1_000_000)))
            bed.loader.perform(.make { $0.responseSink = .file(place) })
            let error = await bed.outcome()?.response?.error
            guard case .responseSink(let said) = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(said.contains(reason), "\(said)")
            bed.expectNothingLeft()
        }
        #expect(directory.names == ["folder"])
    }

    #if os(Linux)
        @Test func `a file sink on a full disk ends the load and leaves nothing`() async {
            await #expect(processExitsWith: .success) {
                // The system's file size limit simulates a full disk.
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
                guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
                    exit(2)
                }
                let directory = TemporaryDirectory()
                let bed = TestBed(otherwise: .respond(status: 200, body: patternBytes(200_000)))
                bed.loader.perform(.make { $0.responseSink = .file(directory.url("file")) })
                guard case .responseSink = await bed.outcome()?.response?.error?.kind else {
                    exit(3)
                }
                guard directory.names.isEmpty else { exit(4) }
            }
        }
    #endif

    @Test func `a file sink is bounded by its own limit only`() async throws {
        let body = patternBytes(1_000)
        let unbounded = TestBed(otherwise: .respond(status: 200, body: body)) { configuration in
            configuration.limits.body = 10
        }
        #expect(try await unbounded.loader.response(for: get()).error == nil)
        #expect(content() == body)
        try FileManager.default.removeItem(at: destination)
        for headers in [HTTPHeaders(), ["Content-Length": "1000"]] {
            for (limit, isIn) in [(1_000 as Int64, true), (999, false)] {
                let bed = TestBed(otherwise: .respond(status: 200, headers: headers, body: body))
                bed.loader.perform(.make { $0.responseSink = .file(destination, limit: limit) })
                let error = await bed.outcome()?.response?.error
                #expect(error == (isIn ? nil : .bodyTooLarge(limit: 999)))
                #expect(directory.names == (isIn ? ["file"] : []))
                try? FileManager.default.removeItem(at: destination)
            }
        }
    }

    @Test func `a file sink has no total time limit unless its request sets one`() async {
        let bed = TestBed()
        bed.loader.perform(get())
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        bed.advance(.seconds(3_600))
        #expect(bed.delegate.events.isEmpty)
        attempt.end()
        #expect(await bed.outcome()?.response?.error == nil)
    }

    // Success means the whole new file; anything else means the old file.
    @Test func `a file sink keeps the old or the whole new file, whenever the load is cancelled`()
        async throws
    {
        let body = patternBytes(50_000)
        for seed in 0..<200 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            try directory.write(Data("old".utf8), to: "file")
            let bed = TestBed(
                otherwise: .run { attempt in
                    attempt.sendHead(status: 200)
                    for start in stride(from: 0, to: body.count, by: 10_000) {
                        attempt.send(body[start..<(start + 10_000)])
                    }
                    attempt.end()
                })
            let token = bed.loader.perform(get())
            for _ in 0..<Int.random(in: 0...3_000, using: &generator) { _ = token.isCancelled }
            token.cancel()
            let isSuccess = if case .success = await bed.outcome() { true } else { false }
            // A cancellation may arrive just after the file was replaced.
            let isWhole = content() == body
            #expect(isWhole || (content() == Data("old".utf8) && !isSuccess))
            #expect(directory.names == ["file"])
            #expect(token.isCancelled == !isSuccess)
            bed.expectNothingLeft()
        }
    }
}

/// Notes that a load was reported to observers.
private final class ReportNotice: ConsumptionObserver {
    let reports = EventRecorder<Void>()

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) { reports.record(()) }
}
