// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
@testable import DataLoadingTesting
import Foundation
import Testing

/// What is no silence of a peer.
@Suite(.timeLimit(.minutes(30))) struct PeerSilenceTests {
    private static func request(_ idleTimeout: Duration) -> TransportRequest {
        var request = TransportRequest(url: testURL("http://peer.test/a"))
        request.idleTimeout = idleTimeout
        return request
    }

    @Test func `an answer that waits for another sink is no silence`() async throws {
        let clock = ManualClock()
        let transport = PeerTransport(timekeeper: ManualTimekeeper(clock: clock)) { _ in
            PeerResponse(DataLoading.ResponseHead(status: .ok), body: Data("late".utf8))
        }
        let held = DispatchSemaphore(value: 0)
        let isHeld = EventRecorder<Void>()
        let slow = RecordingSink { event in
            guard case .head = event else { return }
            isHeld.record(())
            held.wait()
        }
        _ = transport.start(Self.request(.seconds(1_800)), sink: slow)
        _ = await isHeld.first(1)
        let sink = RecordingSink()
        let task = transport.start(Self.request(.seconds(5)), sink: sink)
        let attempt = try #require(task as? PeerAttempt)
        await eventually { attempt.deliveries == 1 }
        clock.advance(by: .seconds(5))
        held.signal()
        #expect(await sink.failure()?.error == nil)
        #expect(sink.body == Data("late".utf8))
        _ = await slow.end()
    }

    @Test func `an alarm that comes too late to be cancelled ends nothing`() async throws {
        let peer = HeldPeer()
        let sink = RecordingSink()
        let task = peer.transport.start(Self.request(.seconds(5)), sink: sink)
        let attempt = try #require(task as? PeerAttempt)
        _ = await peer.asked.first(1)
        // The alarm of a time that has been prolonged, and that of one that a pause has ended.
        attempt.timerFired(0)
        task.pause()
        peer.clock.advance(by: .seconds(5))
        attempt.timerFired(0)
        task.resume()
        peer.letGo()
        #expect(await sink.failure()?.error == nil)
        #expect(sink.endCount == 1)
    }
}
