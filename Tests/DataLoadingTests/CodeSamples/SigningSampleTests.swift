// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What `Crypto` or `CryptoKit` is for a program.
private enum HMAC {
    static func hash(_ data: Data) -> Data { Data(SHA256.hash(data)) }

    /// RFC 2104, for keys of 64 bytes at most.
    static func code(for data: Data, key: Data) -> Data {
        let padded = key + Data(count: 64 - key.count)
        let inner = hash(Data(padded.map { $0 ^ 0x36 }) + data)
        return hash(Data(padded.map { $0 ^ 0x5C }) + inner)
    }
}

@Suite struct SigningSampleTests {
    private let key = Data("canary-key".utf8)
    private let clock = ManualClock()

    private func authoriser() -> HMACAuthoriser {
        let (key, clock) = (key, clock)
        return HMACAuthoriser(
            host: "origin.test", keyName: "feeds", now: { clock.date }, hash: HMAC.hash,
            sign: { HMAC.code(for: $0, key: key) })
    }

    /// What the server makes of a request, from what it has received.
    private func expected(_ attempt: ScriptedAttempt, body: String, date: String) -> String {
        let url = attempt.request.url.absoluteString
        let rest = url.dropFirst("https://origin.test".count)
        let target = rest.isEmpty ? "/" : rest
        let digest = HMAC.hash(Data(body.utf8)).base64EncodedString()
        let text = [attempt.request.method.rawValue, String(target), date, digest]
            .joined(separator: "\n")
        let signature = HMAC.code(for: Data(text.utf8), key: key).base64EncodedString()
        return "HMAC key=\"feeds\", signature=\"\(signature)\""
    }

    // RFC 4231 section 4.3
    @Test func `the tests' HMAC is that of the RFC`() {
        let code = HMAC.code(
            for: Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8))
        #expect(
            code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func `the sample of a signing authoriser signs what is sent, anew for each attempt`()
        async throws
    {
        let bed = TestBed([.fail(.connectionReset), .respond(status: 200)], clock: clock)
        let loader = bed.service.makeFactory(authorisers: [authoriser()]).makeDataLoader()
        let request = DataLoaderRequest.make("/a%20b?q=%C3%A9&r", host: "https://origin.test") {
            $0.method = .put
            $0.body = .data(Data("payload".utf8))
            $0.retryPolicy = .constant(.seconds(5), maximumRetries: 1)
        }
        async let response = loader.response(for: request)
        let first = await bed.attempt(0)
        await eventually {
            bed.passPause()
            return bed.transport.attempts.count == 2
        }
        #expect(try await response.statusCode == .ok)
        let second = await bed.attempt(1)
        #expect(first.request.headers["X-Date"] == "2026-01-01T00:00:00Z")
        #expect(second.request.headers["X-Date"] != "2026-01-01T00:00:00Z")
        for attempt in [first, second] {
            let date = try #require(attempt.request.headers["X-Date"])
            #expect(
                attempt.request.headers["Authorization"]
                    == expected(attempt, body: "payload", date: date))
        }
    }

    @Test func `the sample of a signing authoriser signs a request without path and body`()
        async throws
    {
        let bed = TestBed([.respond(status: 200)], clock: clock)
        let loader = bed.service.makeFactory(authorisers: [authoriser()]).makeDataLoader()
        let request = DataLoaderRequest(url: testURL("https://origin.test"))
        _ = try await loader.response(for: request)
        let attempt = await bed.attempt(0)
        let date = try #require(attempt.request.headers["X-Date"])
        #expect(attempt.request.headers["Authorization"] == expected(attempt, body: "", date: date))
    }

    @Test func `the sample of a signing authoriser refuses a body that it cannot hash`() async {
        var request = DataLoaderRequest(url: testURL("https://origin.test/"))
        request.body = .file(testURL("file:///x"))
        guard case .refuse = authoriser().authorise(request) else {
            Issue.record("not refused")
            return
        }
    }

    @Test(
        arguments: ["http://origin.test/", "https://other.test/", "https://origin.test:8443/"])
    func `the sample of a signing authoriser leaves other requests alone`(url: String) {
        guard case .unchanged = authoriser().authorise(DataLoaderRequest(url: testURL(url))) else {
            Issue.record("not left alone")
            return
        }
    }
}
