// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoading
import Foundation

/// Checks that a transport keeps the contract of `Transport`.
///
/// ```swift
/// try await checkTransport(transport)
/// ```
/// The transport loads from a `LoopbackServer` over plain http: whole responses, a broken one,
/// attempts that are cancelled at once, cancelled in the middle of a body and paused. The check resets
/// the transport, and shuts it down at the end.
///
/// - Parameters:
///   - transport: A transport that reaches the network, directly or through another transport.
///   - limit: The real time that each attempt may take; default 10 seconds.
/// - Throws: `ContractViolations`, with one sentence for each rule that is broken, or the error of
///   the server that could not be started.
public func checkTransport(
    _ transport: any Transport, limit: Duration = .seconds(10)
) async throws {
    let contract = try TransportContract(transport, limit)
    await contract.check()
    try contract.report.end()
}

/// The steps of the check of one transport.
private struct TransportContract: Sendable {
    let report = ContractReport()
    private let transport: any Transport
    private let limit: TimeLimit
    private let server: LoopbackServer
    private static let bodySize = 4_194_304

    init(_ transport: any Transport, _ limit: Duration) throws {
        self.transport = transport
        self.limit = TimeLimit(limit)
        server = try LoopbackServer { request in
            switch request.path {
            case "/cookie": .status(200, headers: ["Set-Cookie": "a=b"], body: "whole")
            case "/redirect": .status(302, headers: ["Location": "/target"])
            case "/unavailable": .status(503, headers: ["Retry-After": "0"])
            case "/cacheable": .ok("whole", headers: ["Cache-Control": "max-age=600"])
            case "/early": .ok("whole").preceded(by: .bytes("HTTP/1.1 103 Early Hints\r\n\r\n"))
            case "/truncated": .truncated("half", declaring: 8)
            case "/held": .steps(.stall)
            case "/stalled":
                .steps(.head(200, headers: ["Content-Length": "100"]), .content("half"), .stall)
            case "/large": .ok(.zeros(Int64(Self.bodySize)))
            default: .ok("whole")
            }
        }
    }

    func check() async {
        defer { server.stop() }
        await checkWholeResponses()
        // Such a transport may block in `start` for as long as its server is silent, and its sink has
        // no task to pause or cancel: what else would be found follows from this.
        guard !report.contains(ContractSink.isCalledInsideStart) else {
            _ = await limit.runTask({ await transport.shutDown() })
            return
        }
        await checkOtherResponses()
        await checkReset()
        await checkCancellation()
        await checkPause()
        await checkCacheOnly()
        await checkShutDown()
    }

    private func checkWholeResponses() async {
        for path in ["/cookie", "/early", "/plain"] {
            let sink = await run(path)
            report.expect(
                sink.status == 200 && sink.body == Data("whole".utf8) && sink.isComplete,
                "The transport does not deliver a whole response as the server sent it.")
        }
        report.expect(
            !server.requests.contains { $0.headers.contains("Cookie") },
            "The transport keeps cookies.")
    }

    private func checkOtherResponses() async {
        let redirect = await run("/redirect")
        report.expect(
            redirect.status == 302 && !asked("/target", 1), "The transport follows redirects.")
        let unavailable = await run("/unavailable")
        report.expect(
            unavailable.status == 503 && !asked("/unavailable", 2),
            "The transport retries by itself.")
        let truncated = await run("/truncated")
        report.expect(
            !truncated.isComplete, "The transport takes a truncated body for a complete one.")
    }

    private func checkReset() async {
        await run("/cacheable")
        let isReset: Void? = await limit.runTask({ await transport.reset() })
        guard isReset != nil else { return report.note("reset() does not return in time.") }
        await run("/cacheable")
        let requests = server.requests.filter { $0.path == "/cacheable" }
        report.expect(
            requests.count >= 2, "After reset() the transport still uses a response from before.")
        // Any connection that was kept has served a request.
        report.expect(
            requests.dropFirst().allSatisfy { !$0.isOnReusedConnection },
            "After reset() the transport still uses a connection from before.")
    }

    private func checkCancellation() async {
        for path in ["/held", "/stalled"] {
            let sink = ContractSink(report)
            let task = sink.start(request(path), with: transport)
            task.cancel()
            task.cancel()
            await expectCancelled(sink, "that is cancelled at once")
        }
        let inside = ContractSink(report) { event, task in
            if case .bytes = event { task.cancel() }
        }
        inside.start(request("/stalled"), with: transport)
        await expectCancelled(inside, "that its sink cancels inside a call")
        let midway = ContractSink(report) { event, task in
            if case .bytes = event { Thread.detachNewThread { task.cancel() } }
        }
        let task = midway.start(request("/stalled"), with: transport)
        await expectCancelled(midway, "that is cancelled in the middle of its body")
        // After the end, every call has no effect.
        task.cancel()
        task.pause()
        task.resume()
    }

    private func checkPause() async {
        let isPaused = EventRecorder<Void>()
        let isFilled = EventRecorder<Void>()
        let size = Locked(0)
        let sink = ContractSink(report) { event, task in
            switch event {
            case .head:
                task.pause()
                isPaused.record(())
            case .bytes(let bytes):
                let isHalf = size.withLock { size in
                    size += bytes.count
                    return size >= Self.bodySize / 2
                }
                if isHalf { isFilled.record(()) }
            case .end, .failure: break
            }
        }
        let task = sink.start(request("/large"), with: transport)
        // Whatever waits for these is let go of at the end.
        defer {
            isPaused.record(())
            isFilled.record(())
        }
        guard await limit.runTask({ await isPaused.first(1) }) != nil else {
            return report.note("The transport hangs when its sink pauses it inside a call.")
        }
        // There is nothing to wait for: a transport that stops reading does nothing.
        let pause = TimeLimit(min(limit.duration, .milliseconds(500)))
        let isIgnored = await pause.runTask({ await isFilled.first(1) }) != nil
        report.expect(!isIgnored, "The transport goes on reading while it is paused.")
        task.resume()
        let hasEnded = await sink.hasEnded(within: limit)
        report.expect(
            hasEnded && sink.isComplete && sink.body.count == Self.bodySize,
            "The transport does not deliver the rest of a body after resume().")
    }

    private func checkCacheOnly() async {
        var request = request("/cached")
        request.cachePolicy = .cacheOnly
        let sink = await run(request)
        report.expect(
            sink.error == .notCached && !asked("/cached", 1),
            "The transport does not refuse a .cacheOnly attempt with .notCached.")
    }

    private func checkShutDown() async {
        let held = ContractSink(report)
        held.start(request("/held"), with: transport)
        let isDown: Void? = await limit.runTask({ await transport.shutDown() })
        report.expect(isDown != nil, "shutDown() does not return in time.")
        guard await held.hasEnded(within: limit) else {
            return report.note("shutDown() does not end every attempt.")
        }
        let late = await run("/late")
        report.expect(late.error != nil, "The transport still loads after shutDown().")
    }

    private func expectCancelled(_ sink: ContractSink, _ which: String) async {
        guard await sink.hasEnded(within: limit) else {
            return report.note("The transport does not end an attempt \(which).")
        }
        report.expect(
            sink.error == .cancelled, "An attempt \(which) does not fail with .cancelled.")
    }

    @discardableResult private func run(_ path: String) async -> ContractSink {
        await run(request(path))
    }

    private func run(_ request: TransportRequest) async -> ContractSink {
        let sink = ContractSink(report)
        sink.start(request, with: transport)
        if await !sink.hasEnded(within: limit) {
            report.note("The transport does not end an attempt.")
        }
        return sink
    }

    private func request(_ path: String) -> TransportRequest {
        var request = TransportRequest(url: server.url(path))
        request.streamsResponse = true
        request.bodyLimit = nil
        return request
    }

    /// Whether the server was asked for a path at least that often.
    private func asked(_ path: String, _ count: Int) -> Bool {
        server.requests.count { $0.path == path } >= count
    }
}
