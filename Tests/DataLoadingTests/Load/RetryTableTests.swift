// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// What may be sent again, for each failure and each kind of request.
@Suite struct RetryTableTests {
    /// The result of an attempt, and whether a request may be sent again after it.
    struct Cell: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: ScriptedAnswer
        let idempotent: Bool
        let other: Bool

        init(_ name: String, _ answer: ScriptedAnswer, _ idempotent: Bool, _ other: Bool) {
            self.name = name
            self.answer = answer
            self.idempotent = idempotent
            self.other = other
        }

        var testDescription: String { name }
    }

    private static func truncated() -> ScriptedAnswer {
        .run { attempt in
            attempt.sendHead(status: 200)
            attempt.send(patternBytes(10))
            attempt.fail(.truncatedBody, sent: .headReceived)
        }
    }

    static let cells: [Cell] =
        [
            Cell("dns", .fail(.dns), true, true),
            Cell("refused", .fail(.connectRefused), true, true),
            Cell("connect", .fail(.connectTimeout), true, true),
            Cell("tls", .fail(.tls), true, true),
            Cell("resources", .fail(.resources(reason: "fd")), true, true),
            Cell("reset in the handshake", .fail(.connectionReset), true, true),
            Cell("refused stream", .fail(.http2(reason: "refused")), true, true),
            Cell("reset", .fail(.connectionReset, sent: .written), true, false),
            Cell("no response", .fail(.noResponse, sent: .written), true, false),
            Cell("idle", .fail(.idleTimeout, sent: .written), true, false),
            Cell("truncated head", .fail(.truncatedHead, sent: .written), true, false),
            Cell("truncated body", truncated(), true, false),
            Cell("certificate", .fail(.certificate(reason: "expired")), false, false),
            Cell("pin", .fail(.pin), false, false),
            Cell("framing", .fail(.framing(reason: "x"), sent: .headReceived), false, false),
            Cell("head", .fail(.headTooLarge, sent: .headReceived), false, false),
            Cell("body", .fail(.bodyTooLarge(limit: 1), sent: .headReceived), false, false),
            Cell("decode", .fail(.decode(reason: "gzip"), sent: .headReceived), false, false),
            Cell("not cached", .fail(.notCached), false, false),
            Cell("unsupported", .fail(.unsupported(reason: "x")), false, false),
            Cell("request body", .fail(.requestBody(reason: "x")), false, false),
            Cell("429", .respond(status: 429), true, true),
            Cell("404", .respond(status: 404), false, false),
            Cell("403", .respond(status: 403), false, false),
            Cell("501", .respond(status: 501), false, false),
        ]
        + [408, 425, 500, 502, 503, 504].map {
            Cell("\($0)", .respond(status: $0), true, false)
        }

    @Test(arguments: cells)
    func `a retry follows the table of failures for each method`(cell: Cell) {
        let methods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "PUSH"]
        for method in methods {
            for mark in [nil, true, false, "key"] as [(any Sendable)?] {
                let bed = TestBed([cell.answer], otherwise: .respond(status: 200))
                bed.loader.perform(
                    .make { request in
                        request.method = HTTPMethod(rawValue: method)
                        request.maximumRetryCount = 1
                        request.isIdempotent = mark as? Bool
                        if mark is String { request.headers["Idempotency-Key"] = "k" }
                    })
                bed.passPause()
                let byMethod = !["POST", "PATCH", "PUSH"].contains(method)
                let isIdempotent = mark as? Bool ?? (byMethod || mark is String)
                let isRetried = isIdempotent ? cell.idempotent : cell.other
                let count = bed.transport.attempts.count
                #expect(count == (isRetried ? 2 : 1), "\(method) \(String(describing: mark))")
                #expect(bed.delegate.events.count == 1)
                #expect((bed.error == nil) == isRetried)
                bed.expectNothingLeft()
            }
        }
    }
}
