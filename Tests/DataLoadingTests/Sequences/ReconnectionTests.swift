// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// When an event stream is loaded again, and after which pause.
@Suite struct ReconnectionTests {
    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `a stream is loaded again after a status that is usually temporary`(status: Int) async {
        let scene = EventScene([.respond(status: status), .respond(status: 204)])
        let reading = scene.read()
        await scene.passPause()
        #expect(await reading.value == nil)
        #expect(scene.bed.transport.attempts.count == 2)
    }

    @Test(arguments: [301, 304, 400, 401, 404, 410, 501, 505])
    func `a stream is not loaded again after another error status`(status: Int) async {
        let scene = EventScene([.respond(status: status, body: Data("why".utf8))])
        let error = await scene.read().value as? DataLoaderError
        #expect(error?.kind == .status(HTTPStatus(rawValue: status)))
        scene.bed.expectNothingLeft()
    }

    @Test(arguments: [
        DataLoaderError.Kind.dns, .connectRefused, .connectTimeout, .noResponse, .connectionReset,
        .idleTimeout, .truncatedHead, .http2(reason: ""), .transport(reason: ""),
    ])
    func `a stream is loaded again after a failure of the network`(
        kind: DataLoaderError.Kind
    ) async {
        let scene = EventScene([.fail(kind, sent: .written), .respond(status: 204)])
        let reading = scene.read()
        await scene.passPause()
        #expect(await reading.value == nil)
    }

    @Test(arguments: [
        DataLoaderError.Kind.certificate(reason: ""), .pin, .framing(reason: ""), .headTooLarge,
        .unsupported(reason: ""),
    ])
    func `a stream is not loaded again after an error that would come again`(
        kind: DataLoaderError.Kind
    ) async {
        let scene = EventScene([.fail(kind)])
        #expect((await scene.read().value as? DataLoaderError)?.kind == kind)
        scene.bed.expectNothingLeft()
    }

    @Test(
        arguments: [
            AuthorisationError.load(.dns), AuthorisationError.load(.status(.serviceUnavailable)),
            AuthorisationError.load(.overloaded),
            AuthorisationError.load(.timedOut(after: .seconds(10), mayHaveBeenProcessed: false)),
            AuthorisationError.timedOut, DataLoaderError.connectTimeout,
        ] as [any Error])
    func `a stream is loaded again when its credential could not be fetched in an outage`(
        reason: any Error
    ) async {
        let scene = EventScene(
            [.respond(status: 204)], authorisers: [FailingAuthoriser([reason, reason])])
        let reading = scene.read()
        await scene.passPause()
        await scene.passPause()
        #expect(await reading.value == nil)
        #expect(scene.bed.transport.attempts.count == 1)
    }

    @Test(arguments: [
        AuthorisationError.refused(code: "invalid_grant"), .noCredentials, .reset,
        .load(.status(.unauthorised)), .load(.certificate(reason: "x")),
        .invalidAnswer(reason: "x"), .store(reason: "x"), .tooManyRefreshes,
    ])
    func `a stream ends when its credential was refused`(reason: AuthorisationError) async {
        let scene = EventScene(
            [.respond(status: 204)], authorisers: [FailingAuthoriser([reason])])
        let error = await scene.read().value as? DataLoaderError
        #expect(error?.underlyingError as? AuthorisationError == reason)
        #expect(scene.bed.transport.attempts.isEmpty)
        scene.bed.expectNothingLeft()
    }

    @Test(arguments: [ExponentialTimer.Jitter.none, .full])
    func `a timer that begins at zero does not load without a pause`(
        jitter: ExponentialTimer.Jitter
    ) async {
        let scene = EventScene(otherwise: .fail(.connectRefused))
        let reading = scene.read(
            reconnect: ExponentialTimer(
                initialTime: .zero, maxTime: .seconds(60), jitter: jitter))
        var pauses: [Duration] = []
        for _ in 0..<8 { pauses.append(await scene.passPause()) }
        reading.cancel()
        _ = await reading.value
        let shortest = pauses.min() ?? .zero
        #expect(shortest >= .milliseconds(100))
        let longest = pauses.max() ?? .zero
        if jitter == .none { #expect(longest > .seconds(1)) }
    }

    @Test(arguments: [DataLoaderError.Kind.truncatedBody, .connectionReset, .idleTimeout])
    func `an error status stays when its body breaks`(kind: DataLoaderError.Kind) async {
        let scene = EventScene()
        let reading = scene.read()
        let attempt = await scene.bed.attempt(0)
        attempt.sendHead(status: 410)
        attempt.send(Data("gone".utf8))
        attempt.fail(kind, sent: .headReceived)
        let error = await reading.value as? DataLoaderError
        #expect(error?.kind == .status(HTTPStatus(rawValue: 410)))
        #expect(error?.body == Data("gone".utf8))
        #expect(scene.bed.transport.attempts.count == 1)
        scene.bed.expectNothingLeft()
    }

    @Test func `a stream that breaks is loaded again after its last whole event`() async {
        let scene = EventScene()
        let reading = scene.read()
        let first = await scene.bed.attempt(0)
        first.sendEvents("id: 1\ndata: a\n\nid: 2\ndata: cut\n")
        first.fail(.connectionReset, sent: .headReceived)
        await scene.passPause()
        #expect(await scene.field("Last-Event-ID", ofAttempt: 1) == "1")
        await scene.bed.attempt(1).sendEvents("\ndata: b\n\n")
        #expect(await scene.events.first(2).map(\.data) == ["a", "b"])
        reading.cancel()
        _ = await reading.value
    }

    @Test func `pauses grow while no connection brings a byte and then begin again`() async {
        let scene = EventScene([
            .fail(.connectRefused), .events(""), .respond(status: 503), .events(":\n"),
            .fail(.connectRefused),
        ])
        let reading = scene.read()
        var pauses: [Duration] = []
        for _ in 0..<5 { pauses.append(await scene.passPause()) }
        #expect(pauses == [1, 2, 4, 1, 2].map { .seconds($0) })
        reading.cancel()
        _ = await reading.value
    }

    @Test(arguments: [
        ("5000", Duration.seconds(5)), ("1", .milliseconds(100)), ("0", .milliseconds(100)),
        ("90000", .seconds(90)), ("999999999999999999999", .seconds(3_600)),
    ])
    func `a reconnection time of the server replaces the first pause within bounds`(
        time: String, expected: Duration
    ) async {
        let scene = EventScene([.events("retry: \(time)\n")])
        let reading = scene.read()
        #expect(await scene.passPause() == expected)
        _ = await scene.bed.attempt(1)
        reading.cancel()
        _ = await reading.value
    }

    @Test(arguments: [ExponentialTimer.Jitter.none, .normal(0.5), .full])
    func `no pause is shorter than the server's reconnection time`(
        jitter: ExponentialTimer.Jitter
    ) {
        let random = RandomSource(SeededGenerator(seed: 1))
        var pauses = Reconnection(
            ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60), jitter: jitter))
        pauses.serverSet(.seconds(7))
        for number in 1...200 {
            #expect((.seconds(7)...(.seconds(60))).contains(pauses.next(using: random)))
            if number.isMultiple(of: 5) { pauses.reset() }
        }
    }

    @Test func `the end of the time for all connections names that time`() async {
        let scene = EventScene([.events("data: a\n\n")])
        let reading = scene.read(.make { $0.timeout = .seconds(10) })
        await scene.passPause()
        _ = await scene.bed.attempt(1)
        scene.bed.clock.advance(by: .seconds(9))
        let error = await reading.value as? DataLoaderError
        #expect(error?.kind == .timedOut(after: .seconds(10), mayHaveBeenProcessed: true))
        // Everything else is that of the last load.
        #expect(error?.context?.attempts == 1)
        #expect(error?.context?.time == .seconds(9))
        scene.bed.expectNothingLeft()
    }

    @Test func `a Retry-After delays the load that follows the pause`() async {
        let scene = EventScene([
            .respond(status: 503, headers: ["Retry-After": "30"]), .respond(status: 204),
        ])
        let start = scene.bed.clock.elapsed
        let reading = scene.read()
        await scene.passPause()
        let timerQueue = scene.bed.service.runtime.timerQueue
        // The load waits for its rate key.
        await eventually { timerQueue.earliest != nil }
        scene.bed.passPause()
        #expect(await reading.value == nil)
        #expect(scene.bed.clock.elapsed - start == .seconds(30))
    }

    @Test func `a time limit counts for all connections and pauses of a stream`() async {
        let scene = EventScene(otherwise: .fail(.connectRefused))
        let reading = scene.read(.make { $0.timeout = .seconds(10) })
        let start = scene.bed.clock.elapsed
        for pause in [1, 2, 4, 3] { #expect(await scene.passPause() == .seconds(pause)) }
        let error = await reading.value as? DataLoaderError
        #expect(error?.kind == .timedOut(after: .seconds(10), mayHaveBeenProcessed: true))
        #expect(scene.bed.clock.elapsed - start == .seconds(10))
        scene.bed.expectNothingLeft()
    }

    @Test func `the first pause is not the same for all clients`() async {
        let scene = EventScene(otherwise: .fail(.connectRefused))
        var pauses: Set<Duration> = []
        for _ in 0..<3 {
            let reading = scene.read(
                reconnect: ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60)))
            pauses.insert(await scene.pause())
            reading.cancel()
            _ = await reading.value
        }
        #expect(pauses.count == 3)
    }
}
