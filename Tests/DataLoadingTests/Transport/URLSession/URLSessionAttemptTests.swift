// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One attempt whose session's calls are the test's.
@Suite struct URLSessionAttemptTests {
    private let sink = AttemptRecorder()
    private let attempts = URLSessionAttempts()
    private let attempt: URLSessionAttempt
    private let response: HTTPURLResponse

    init() throws {
        let url = try URL.host("example.test")
        attempt = URLSessionAttempt(
            TransportRequest(url: url), sink: sink,
            agenda: Agenda(timekeeper: ManualClock().timekeeper), window: 100, attempts: attempts)
        attempts.begin(attempt)
        response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
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

    @Test func `a cancel takes the place of an end that a pause holds back`() async {
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

    @Test func `nothing that comes after the end is heard`() async {
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
