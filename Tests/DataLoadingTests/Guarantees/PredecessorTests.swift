// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Where SPTDataLoader behaves differently, as described in CHANGELOG.md.
@Suite struct PredecessorTests {
    @Test func `a transfer that ends without a head fails without a status`() async {
        let bed = TestBed()
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        await bed.attempt(0).end()
        #expect(bed.error == .transport(reason: "an end without a head"))
        #expect(bed.ended?.response.map { $0.statusCode == nil } == true)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test(arguments: ["file:///etc/passwd", "data:,x"])
    func `a URL without a server is refused and never sent`(text: String) {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(DataLoaderRequest(url: testURL(text)))
        #expect(bed.error?.name == "invalid_request")
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test(
        arguments: [
            ("0", 0), ("Thu, 01 Jan 2015 00:00:00 GMT", 0), ("7", 7),
            ("Thu, 01 Jan 2026 00:00:09 GMT", 9), ("-5", nil), ("1.5", nil), ("60abc", nil),
        ] as [(String, Double?)])
    func `the date of Retry-After is never in the past, and nil when it cannot be read`(
        value: String, seconds: Double?
    ) {
        let bed = TestBed(otherwise: .respond(status: 503, headers: ["Retry-After": value]))
        bed.loader.perform(.make())
        #expect(bed.error == .status(.serviceUnavailable))
        let expected = seconds.map { bed.clock.date.addingTimeInterval($0) }
        #expect(bed.ended?.response?.retryAfter == expected)
    }

    @Test(arguments: [(200, false), (404, false), (500, false), (429, true), (503, true)])
    func `Retry-After delays other loads after 429 and 503 only`(
        status: Int, isHeldBack: Bool
    ) {
        let bed = TestBed(
            [.respond(status: status, headers: ["Retry-After": "9"])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make("/first"))
        bed.settle()
        bed.loader.perform(.make("/second"))
        bed.settle()
        #expect(bed.starts.map(\.path) == (isHeldBack ? ["/first"] : ["/first", "/second"]))
        bed.advance(.seconds(9))
        #expect(bed.starts.last?.at == .seconds(isHeldBack ? 9 : 0))
        #expect(bed.starts.count == 2)
    }

    @Test func `a retry waits for Retry-After after any status`() {
        let bed = TestBed(
            [.respond(status: 500, headers: ["Retry-After": "9"])],
            otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 1 })
        bed.settle()
        bed.advance(ms(8_999))
        #expect(bed.starts.count == 1)
        bed.passPause()
        #expect(bed.starts.count == 2)
        #expect(bed.error == nil)
    }

    @Test func `the eleventh redirect ends the load without a status and is not retried`() {
        let hops = Locked(0)
        let bed = TestBed(
            otherwise: .run { attempt in
                let hop = hops.withLock { hops in
                    hops += 1
                    return hops
                }
                attempt.sendHead(status: 302, headers: ["Location": "/\(hop)"])
                attempt.end()
            })
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 3) })
        #expect(bed.error == .redirectLimit)
        #expect(bed.ended?.response.map { $0.statusCode == nil } == true)
        #expect(bed.transport.attempts.count == 11)
    }

    @Test func `a response without a body gives empty data and nothing that can be decoded`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 204))
        let url = testURL("http://origin.test/")
        #expect(try await bed.loader.request(url).responseData() == Data())
        let error = await #expect(throws: DataLoaderError.self) {
            try await bed.loader.request(url).responseDecodable(Int.self)
        }
        #expect(error?.name == "undecodable")
        #expect(error?.underlyingError is DecodingError)
    }

    @Test func `adding a header field appends a value, and setting it replaces all values`() {
        var headers: HTTPHeaders = ["A": "1"]
        headers.add("2", for: "a")
        #expect(headers.values(for: "A") == ["1", "2"])
        headers["a"] = "3"
        #expect(headers.values(for: "A") == ["3"])
    }

    @Test(arguments: ["Host", "content-length", "Connection", "Transfer-Encoding", "TE"])
    func `a header field that frames the message ends the load before it is sent`(name: String) {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.headers[name] = "1" })
        #expect(bed.error == .invalidRequest(.reservedHeader(name)))
        #expect(bed.transport.attempts.isEmpty)
    }
}
