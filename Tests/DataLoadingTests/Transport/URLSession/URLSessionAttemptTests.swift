// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    @testable import DataLoadingURLSession
    @testable import DataLoading
    @testable import DataLoadingTransport
    import DataLoadingSupport
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// One attempt whose session is played by the test.
    @Suite struct URLSessionAttemptTests {
        private let sink: AttemptRecorder
        private let clock = ManualClock()
        /// Keeps the sink inside a call until the test has acted.
        private let mayLeaveHead = DispatchSemaphore(value: 0)
        private let heardBytes = LoopbackGate()
        private let attempts = URLSessionAttempts()
        private let attempt: URLSessionAttempt
        private let response: HTTPURLResponse

        init() throws {
            let url = try URL.host("example.test")
            sink = AttemptRecorder(
                onHead: { [mayLeaveHead] head in
                    if head.headers.contains("Slow") { mayLeaveHead.wait() }
                }, onBytes: { [heardBytes] _ in heardBytes.open() })
            var request = TransportRequest(url: url)
            request.streamsResponse = true
            attempt = URLSessionAttempt(
                request, sink: sink, timerQueue: TimerQueue(timekeeper: clock.timekeeper),
                window: 100,
                attempts: attempts)
            attempts.begin(attempt)
            response = try Self.response(nil)
        }

        private static func response(_ fields: [String: String]?) throws -> HTTPURLResponse {
            try #require(
                HTTPURLResponse(
                    url: .host("example.test"), statusCode: 200, httpVersion: nil,
                    headerFields: fields))
        }

        @Test func `an end that a pause holds back comes after its bytes`() async {
            attempt.pause()
            attempt.received(response)
            attempt.received(Data("a".utf8))
            attempt.sessionEnded(nil)
            #expect(sink.record.endings == 0)
            attempt.resume()
            let record = await sink.ended()
            #expect(record.text == "a")
            #expect(record.end != nil)
            await attempts.waitUntilEmpty()
            #expect(record.late == 0)
        }

        @Test func `a cancel replaces an end that a pause holds back`() async {
            attempt.pause()
            attempt.received(response)
            attempt.received(Data("a".utf8))
            attempt.sessionEnded(nil)
            attempt.cancel()
            let record = await sink.ended()
            #expect(record.error == .cancelled)
            #expect(record.byteCount == 0)
            attempt.resume()
            await attempts.waitUntilEmpty()
            #expect(sink.record.endings == 1)
        }

        @Test func `a window that overflows while the sink is busy drops its bytes`()
            async throws
        {
            attempt.received(try Self.response(["Slow": "yes"]))
            attempt.received(Data(count: 100))
            attempt.received(Data(count: 1))
            mayLeaveHead.signal()
            let record = await sink.ended()
            #expect(record.error == .unsupported(reason: "URLSession cannot apply back-pressure"))
            #expect(record.head?.status == .ok)
            #expect(record.byteCount == 0)
        }

        @Test func `the idle limit does not replace an end that waits for the sink`() async throws {
            attempt.received(try Self.response(["Slow": "yes"]))
            attempt.sessionEnded(nil)
            clock.advance(by: .seconds(100))
            attempt.timerFired(0)
            mayLeaveHead.signal()
            #expect(await sink.ended().end != nil)
        }

        @Test func `waiting bytes do not count as silence, and the limit starts after them`()
            async throws
        {
            attempt.received(try Self.response(["Slow": "yes"]))
            attempt.received(Data("a".utf8))
            clock.advance(by: .seconds(100))
            attempt.timerFired(0)
            mayLeaveHead.signal()
            await heardBytes.opened()
            clock.advance(by: .seconds(29))
            #expect(sink.record.endings == 0)
            clock.advance(by: .seconds(1))
            let record = await sink.ended()
            #expect(record.error == .idleTimeout)
            #expect(record.text == "a")
        }

        @Test func `the one attempt of a session that cannot connect has sent nothing`() async {
            attempt.sessionEnded(URLError(.cannotConnectToHost))
            let record = await sink.ended()
            #expect(record.error == .connectRefused)
            #expect(record.failure?.sent == .nothingWritten)
        }

        @Test func `an attempt that cannot connect after a part of its body was sent has written`()
            async
        {
            attempt.sent(1, of: 2)
            attempt.sessionEnded(URLError(.cannotConnectToHost))
            let record = await sink.ended()
            #expect(record.error == .connectRefused)
            #expect(record.failure?.sent == .written)
        }

        #if canImport(FoundationNetworking)
            // A connection that was kept may have ended under the request, which was sent again.
            @Test func `an attempt besides another that cannot connect may have sent its request`()
                async
            {
                let other = URLSessionAttempt(
                    attempt.request, sink: AttemptRecorder(), timerQueue: attempt.timerQueue,
                    window: 100, attempts: attempts)
                attempts.begin(other)
                attempt.sessionEnded(URLError(.cannotConnectToHost))
                #expect(await sink.ended().failure?.sent == .written)
                other.cancel()
                await attempts.waitUntilEmpty()
            }
        #endif

        @Test func `no event is delivered after the end`() async {
            attempt.cancel()
            attempt.received(response)
            attempt.received(Data("a".utf8))
            attempt.sessionEnded(nil)
            await attempts.waitUntilEmpty()
            #expect(sink.record.endings == 1)
            #expect(sink.record.head == nil)
            #expect(sink.record.late == 0)
        }
    }
#endif
