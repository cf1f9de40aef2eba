// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct CollectorTests {
    private let url = testURL("http://collector.test:4318/v1/traces")

    private func send(_ bytes: Int, _ answer: ScriptedAnswer) async -> (lost: Int, attempts: Int) {
        let transport = ScriptedTransport(otherwise: answer)
        let clock = ManualClock()
        let collector = Collector(TelemetryPush(endpoint: url), transport, clock.timekeeper)
        let body = [UInt8](repeating: UInt8(ascii: " "), count: bytes)
        let lost = await collector.send(body, of: 9, to: url)
        await collector.shutDown(gracePeriod: .zero)
        return (lost, transport.attempts.count)
    }

    @Test func `a request of more than 64 MiB is not sent`() async {
        let fits = await send(67_108_864, .respond(status: 200))
        #expect((fits.lost, fits.attempts) == (0, 1))
        let more = await send(67_108_865, .respond(status: 200))
        #expect((more.lost, more.attempts) == (9, 0))
    }

    @Test func `an answer of more than 4 MiB is not kept, and counts as none`() async {
        let blank = Data(repeating: UInt8(ascii: " "), count: 4_194_304)
        let fits = await send(2, .respond(status: 200, body: blank))
        #expect((fits.lost, fits.attempts) == (0, 1))
        let more = await send(2, .respond(status: 200, body: blank + Data(" ".utf8)))
        #expect((more.lost, more.attempts) == (9, 1))
    }

    @Test func `any success is one, and requests say who sends them`() async {
        let transport = ScriptedTransport(otherwise: .respond(status: 202))
        let clock = ManualClock()
        let collector = Collector(TelemetryPush(endpoint: url), transport, clock.timekeeper)
        #expect(await collector.send([], of: 9, to: url) == 0)
        let fields = transport.attempts.first?.request.headers
        #expect(fields?["User-Agent"] == "DataLoading/" + BuildLabels.version)
        await collector.shutDown(gracePeriod: .zero)
    }
}
