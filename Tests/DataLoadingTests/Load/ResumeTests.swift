// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// A broken body is continued with the missing range or not at all.
@Suite struct ResumeTests {
    private static let tagged: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "100"]

    /// Sends a part of a hundred bytes and breaks off.
    private static func breaks(after count: Int, _ headers: HTTPHeaders = tagged) -> ScriptedAnswer
    {
        .run { attempt in
            attempt.sendHead(status: 200, headers: headers)
            if count > 0 { attempt.send(patternBytes(count)) }
            attempt.fail(.truncatedBody, sent: .headReceived)
        }
    }

    /// Sends a range: by default up to the end, and as many bytes as declared.
    private static func rest(
        from first: Int, to last: Int? = nil, of length: Int = 100, count: Int? = nil,
        tag: String = "\"v1\""
    ) -> ScriptedAnswer {
        let last = last ?? length - 1
        return .respond(
            status: 206,
            headers: ["ETag": tag, "Content-Range": "bytes \(first)-\(last)/\(length)"],
            body: patternBytes(count ?? last - first + 1, from: first))
    }

    typealias Mode = BodyMode
    private typealias Load = BodyLoad

    @Test(arguments: Mode.allCases)
    func `a broken body is resumed where it broke, as often as it breaks`(
        mode: Mode
    ) async {
        let load = Load(
            mode,
            [
                Self.breaks(after: 40),
                .run { attempt in
                    attempt.sendHead(
                        status: 206,
                        headers: ["ETag": "\"v1\"", "Content-Range": "bytes 40-99/100"])
                    attempt.send(patternBytes(20, from: 40))
                    attempt.fail(.connectionReset, sent: .headReceived)
                },
                Self.rest(from: 60),
            ])
        let response = await load.outcome()
        #expect(response?.error == nil)
        // The delivered response is the first one, status 200 with the whole body.
        #expect(response?.statusCode == .ok)
        #expect(response?.headers["Content-Length"] == "100")
        #expect(load.body == patternBytes(100))
        let sent = load.bed.transport.attempts.map(\.request.headers)
        #expect(sent.map { $0["Range"] } == [nil, "bytes=40-", "bytes=60-"])
        #expect(sent.map { $0["If-Range"] } == [nil, "\"v1\"", "\"v1\""])
        #expect(response?.metrics.retries == 2)
        #expect(response?.metrics.decodedBytes == 100)
        load.bed.expectNothingLeft()
    }

    // Some versions of libcurl lose pieces of bodies over HTTP/2.
    @Test func `a body that may lack a piece is loaded again as a whole`() async {
        let load = Load(
            .whole,
            [
                .run { attempt in
                    attempt.sendHeadOfUnsafeBody(status: 200, headers: Self.tagged)
                    attempt.send(patternBytes(40))
                    attempt.fail(.truncatedBody, sent: .headReceived)
                },
                .respond(status: 200, headers: Self.tagged, body: patternBytes(100)),
            ])
        let response = await load.outcome()
        #expect(response?.error == nil)
        #expect(load.body == patternBytes(100))
        #expect(load.bed.transport.attempts.allSatisfy { !$0.request.headers.contains("Range") })
        #expect(load.bed.transport.attempts.count == 2)
        load.bed.expectNothingLeft()
    }

    @Test func `a range that may lack a piece is not taken for the rest`() async {
        let load = Load(
            .whole,
            [
                Self.breaks(after: 40),
                .run { attempt in
                    attempt.sendHeadOfUnsafeBody(
                        status: 206,
                        headers: ["ETag": "\"v1\"", "Content-Range": "bytes 40-99/100"])
                    attempt.send(patternBytes(60, from: 40))
                    attempt.end()
                },
                .respond(status: 200, headers: Self.tagged, body: patternBytes(100)),
            ])
        let response = await load.outcome()
        #expect(response?.error == nil)
        #expect(load.body == patternBytes(100))
        #expect(
            load.bed.transport.attempts.map(\.request.headers).map { $0["Range"] }
                == [nil, "bytes=40-", nil])
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Mode.allCases)
    func `a 200 to a resumed request restarts the body only if nothing was handed over`(
        mode: Mode
    ) async {
        let load = Load(
            mode,
            [
                Self.breaks(after: 40),
                .respond(status: 200, headers: ["ETag": "\"v2\""], body: Data("new".utf8)),
            ])
        let error = await load.outcome()?.error
        #expect(error == (load.isRestartable ? nil : .truncatedBody))
        #expect(load.body == (load.isRestartable ? Data("new".utf8) : patternBytes(40)))
        #expect(load.bed.transport.attempts.count == 2)
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Mode.allCases) func `a range that does not fit is not appended`(mode: Mode)
        async
    {
        let wrong: [ScriptedAnswer] = [
            .respond(status: 416, headers: ["Content-Range": "bytes */100"]),
            Self.rest(from: 41), Self.rest(from: 39), Self.rest(from: 40, of: 101),
            Self.rest(from: 40, tag: "\"v2\""), Self.rest(from: 40, tag: "W/\"v1\""),
            .respond(
                status: 206,
                headers: ["Content-Type": "multipart/byteranges; boundary=x", "ETag": "\"v1\""],
                body: Data("--x".utf8)),
        ]
        for answer in wrong {
            let whole = ScriptedAnswer.respond(
                status: 200, headers: Self.tagged, body: patternBytes(100))
            let load = Load(mode, [Self.breaks(after: 40), answer, whole])
            let error = await load.outcome()?.error
            #expect(error == (load.isRestartable ? nil : .truncatedBody))
            #expect(load.body == patternBytes(load.isRestartable ? 100 : 40))
            // The range is requested once, then the whole body.
            let ranges = load.bed.transport.attempts.map(\.request.headers["Range"])
            #expect(ranges == (load.isRestartable ? [nil, "bytes=40-", nil] : [nil, "bytes=40-"]))
        }
    }

    @Test(arguments: Mode.allCases)
    func `a broken body ends with its first error when no retry is left`(
        mode: Mode
    ) async {
        let load = Load(mode, [Self.breaks(after: 40), Self.rest(from: 41)], retries: 1)
        #expect(await load.outcome()?.error == .truncatedBody)
        #expect(load.bed.transport.attempts.count == 2)
        let none = Load(mode, [Self.breaks(after: 40)], retries: 0)
        #expect(await none.outcome()?.error == .truncatedBody)
        #expect(none.bed.transport.attempts.count == 1)
    }

    @Test(arguments: Mode.allCases)
    func `a resumed request is retried and failed over like any attempt`(
        mode: Mode
    ) async {
        let load = Load(
            mode,
            [
                Self.breaks(after: 40), .respond(status: 503, body: Data("busy".utf8)),
                .fail(.connectRefused), Self.rest(from: 40),
            ])
        #expect(await load.outcome()?.error == nil)
        #expect(load.body == patternBytes(100))
        let ranges = load.bed.transport.attempts.map(\.request.headers["Range"])
        #expect(ranges == [nil, "bytes=40-", "bytes=40-", "bytes=40-"])
    }

    @Test(arguments: Mode.allCases)
    func `a resumed request that is redirected is not continued there`(mode: Mode) async {
        let load = Load(
            mode,
            [
                Self.breaks(after: 40), .respond(status: 302, headers: ["Location": "/b"]),
                .respond(status: 200, headers: Self.tagged, body: patternBytes(100)),
            ])
        #expect(await load.outcome()?.error == (load.isRestartable ? nil : .truncatedBody))
        #expect(load.body == patternBytes(load.isRestartable ? 100 : 40))
        if load.isRestartable {
            #expect(load.bed.transport.attempts.last?.request.headers["Range"] == nil)
        }
    }

    @Test(arguments: Mode.allCases) func `a range with more bytes than it declared is refused`(
        mode: Mode
    ) async {
        let load = Load(mode, [Self.breaks(after: 40), Self.rest(from: 40, count: 61)])
        #expect(await load.outcome()?.error == .framing(reason: "more than the range"))
        if !load.isRestartable { #expect(load.body == patternBytes(40)) }
    }

    @Test(arguments: Mode.allCases) func `a partial range is followed by the next range`(
        mode: Mode
    ) async {
        let load = Load(
            mode, [Self.breaks(after: 40), Self.rest(from: 40, to: 69), Self.rest(from: 70)])
        #expect(await load.outcome()?.error == nil)
        #expect(load.body == patternBytes(100))
    }

    @Test func `without a validator a load in chunks ends and a whole body restarts`() async {
        let plain: HTTPHeaders = ["Content-Length": "100"]
        for mode in Mode.allCases {
            let load = Load(
                mode,
                [
                    Self.breaks(after: 40, plain),
                    .respond(status: 200, headers: plain, body: patternBytes(100)),
                ])
            #expect(await load.outcome()?.error == (load.isRestartable ? nil : .truncatedBody))
            let last = load.bed.transport.attempts.last?.request
            #expect(last?.headers["Range"] == nil)
        }
    }

    @Test func `the body limit covers all parts of a resumed body`() async {
        let bed = TestBed([Self.breaks(after: 40), Self.rest(from: 40)]) { configuration in
            configuration.limits.body = 99
        }
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        #expect(await bed.outcome()?.response?.error == .bodyTooLarge(limit: 99))
    }

    @Test func `download progress continues over a resumed body`() async {
        let heard = EventRecorder<BodyProgress>()
        let load = Load(.whole, [Self.breaks(after: 40), Self.rest(from: 40)]) { request in
            request.downloadProgress = { heard.record($0) }
        }
        _ = await load.outcome()
        let completed = heard.elements.map(\.completed)
        #expect(completed == completed.sorted())
        #expect(heard.elements.last == BodyProgress(completed: 100, total: 100))
    }
}
