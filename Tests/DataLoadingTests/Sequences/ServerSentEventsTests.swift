// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct ServerSentEventsTests {
    @Test func `events are returned as they arrive`() async {
        let scene = EventScene()
        let reading = scene.read()
        let attempt = await scene.bed.attempt(0)
        attempt.sendEvents("id: 7\nevent: add\ndata: a\n\ndata: b")
        #expect(await scene.events.first(1) == [.init(id: "7", event: "add", data: "a")])
        attempt.send(Data("\n\n".utf8))
        #expect(await scene.events.first(2).last == ServerSentEvent(id: "7", data: "b"))
        reading.cancel()
        #expect(await reading.value as? DataLoaderError == .cancelled)
        await attempt.waitUntilCancelled()
        scene.bed.expectNothingLeft()
    }

    @Test func `a stream that ends is loaded again after its last event until a 204`() async {
        let scene = EventScene([
            .events("id: 1\ndata: a\n\nid: 2\ndata: cut"), .events("data: b\n\n"),
            .respond(status: 204),
        ])
        let reading = scene.read()
        #expect(await scene.passPause() == .seconds(1))
        #expect(await scene.passPause() == .seconds(1))
        #expect(await reading.value == nil)
        #expect(scene.events.elements == [.init(id: "1", data: "a"), .init(id: "1", data: "b")])
        #expect(await scene.field("Last-Event-ID", ofAttempt: 0) == nil)
        #expect(await scene.field("Last-Event-ID", ofAttempt: 1) == "1")
        #expect(await scene.field("Last-Event-ID", ofAttempt: 2) == "1")
        scene.bed.expectNothingLeft()
        scene.bed.settle()
        #expect(scene.bed.observer.entries.count == 3)
    }

    @Test func `the last ID follows a redirect to another origin`() async {
        let redirect = ScriptedAnswer.respond(
            status: 307, headers: ["Location": "https://events.test/stream"])
        let scene = EventScene([
            redirect, .events("id: 1\ndata: a\n\n"), redirect, .respond(status: 204),
        ])
        let reading = scene.read(.make { $0.headers = ["Last-Event-ID": "0", "X-Key": "secret"] })
        await scene.passPause()
        #expect(await reading.value == nil)
        #expect(await scene.field("Last-Event-ID", ofAttempt: 1) == "0")
        #expect(await scene.field("X-Key", ofAttempt: 1) == nil)
        #expect(await scene.field("Last-Event-ID", ofAttempt: 3) == "1")
        scene.bed.expectNothingLeft()
    }

    @Test func `a request says that it is one of a stream unless its caller says otherwise`()
        async
    {
        let scene = EventScene()
        let usual = scene.read()
        let request = await scene.bed.attempt(0).request
        #expect(request.headers["Accept"] == "text/event-stream")
        #expect(request.headers["Cache-Control"] == "no-store")
        #expect(request.idleTimeout == .seconds(300))
        let own = scene.read(
            .make {
                $0.headers = [
                    "accept": "text/plain", "Cache-Control": "no-cache", "Last-Event-ID": "5",
                ]
                $0.idleTimeout = .seconds(20)
            })
        let ownRequest = await scene.bed.attempt(1).request
        #expect(ownRequest.headers["Accept"] == "text/plain")
        #expect(ownRequest.headers["Cache-Control"] == "no-cache")
        #expect(ownRequest.headers["Last-Event-ID"] == "5")
        #expect(ownRequest.idleTimeout == .seconds(20))
        for reading in [usual, own] {
            reading.cancel()
            _ = await reading.value
        }
    }

    @Test func `a stream does not take the slots of other loads`() async {
        let scene = EventScene { $0.limits.perOrigin = 1 }
        let readings = [scene.read(), scene.read()]
        _ = await scene.bed.attempt(1)
        for reading in readings {
            reading.cancel()
            _ = await reading.value
        }
    }

    @Test func `an ID that no field may have is not sent`() async {
        let long = String(repeating: "1", count: 4_097)
        let scene = EventScene([
            .events("id: \u{1}\ndata: a\n\n"), .events("id: \(long)\ndata: a\n\n"),
            .events("id: é\ndata: b\n\n"), .events("id\ndata: c\n\n"),
        ])
        let reading = scene.read(maxEventSize: 10_000)
        for _ in 0..<4 { await scene.passPause() }
        #expect(await scene.field("Last-Event-ID", ofAttempt: 1) == nil)
        #expect(await scene.field("Last-Event-ID", ofAttempt: 2) == nil)
        #expect(await scene.field("Last-Event-ID", ofAttempt: 3) == "é")
        #expect(await scene.field("Last-Event-ID", ofAttempt: 4) == nil)
        reading.cancel()
        _ = await reading.value
    }

    @Test(arguments: ["text/html", "text/event-streams", "", nil])
    func `a response of another type is refused and not loaded again`(type: String?) async {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
        let scene = EventScene([
            .respond(status: 200, headers: headers, body: Data("data: a\n\n".utf8))
        ])
        let error = await scene.read().value
        #expect(error as? StreamError == .notAnEventStream(contentType: type))
        #expect(scene.events.elements.isEmpty)
        scene.bed.expectNothingLeft()
    }

    @Test func `the type of a stream may have any case and parameters`() async {
        let scene = EventScene([
            .respond(
                status: 200, headers: ["Content-Type": "Text/Event-Stream ;x=y"],
                body: Data("data: a\n\n".utf8))
        ])
        #expect(await scene.read(reconnect: nil).value == nil)
        #expect(scene.events.elements == [ServerSentEvent(data: "a")])
    }

    @Test func `an event that is too long is refused and its load cancelled`() async {
        let scene = EventScene()
        let reading = scene.read(maxEventSize: 10)
        let attempt = await scene.bed.attempt(0)
        attempt.sendEvents("data: a\n\ndata: bcdefghij\n\n")
        #expect(await reading.value as? StreamError == .eventTooLong(limit: 10))
        #expect(scene.events.elements == [ServerSentEvent(data: "a")])
        await attempt.waitUntilCancelled()
        scene.bed.expectNothingLeft()
    }

    @Test func `a sequence that does not connect again ends with its stream`() async {
        let scene = EventScene([.events("data: a\n\n"), .fail(.connectRefused)])
        #expect(await scene.read(reconnect: nil).value == nil)
        #expect(await scene.read(reconnect: nil).value as? DataLoaderError == .connectRefused)
    }

    // A reconnection would send it a second time.
    @Test func `a request that may not be sent twice has one connection`() async {
        let scene = EventScene(otherwise: .events("data: a\n\n"))
        #expect(await scene.read(.make { $0.method = .post }).value == nil)
        #expect(scene.bed.transport.attempts.count == 1)
        let reading = scene.read(
            .make {
                $0.method = .post
                $0.isIdempotent = true
            })
        await scene.passPause()
        _ = await scene.bed.attempt(2)
        reading.cancel()
        _ = await reading.value
    }

    @Test func `a malformed timer ends the sequence before it connects`() async {
        let scene = EventScene()
        let timer = ExponentialTimer(initialTime: .seconds(2), maxTime: .seconds(1))
        let error = await scene.read(reconnect: timer).value as? DataLoaderError
        #expect(error?.name == "invalid_configuration")
        #expect(scene.bed.transport.attempts.isEmpty)
    }
}
