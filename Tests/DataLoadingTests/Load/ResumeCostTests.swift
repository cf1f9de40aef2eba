// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What the continuation of a body that broke costs the budget of its origin.
@Suite struct ResumeCostTests {
    private static let piece = 65_536

    /// Answers the first request and each range with one piece more, and breaks off.
    private static func breaks(after count: Int, of length: Int) -> ScriptedAnswer {
        .run { attempt in
            let range = attempt.request.headers["Range"] ?? "bytes=0-"
            let first = Int(range.dropFirst(6).dropLast()) ?? 0
            attempt.sendHead(
                status: first == 0 ? 200 : 206,
                headers: first == 0
                    ? ["ETag": "\"v1\"", "Content-Length": "\(length)"]
                    : [
                        "ETag": "\"v1\"",
                        "Content-Range": "bytes \(first)-\(length - 1)/\(length)",
                    ])
            attempt.send(patternBytes(min(count, length - first), from: first))
            if first + count < length {
                attempt.fail(.truncatedBody, sent: .headReceived)
            } else {
                attempt.end()
            }
        }
    }

    private func load(
        _ answer: ScriptedAnswer, retries: Int, budget: Int
    ) async -> (bed: TestBed, response: DataLoaderResponse?) {
        let bed = TestBed(otherwise: answer) { $0.retry.budget = budget }
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: retries) })
        return (bed, await bed.outcome()?.response)
    }

    @Test func `a body that makes progress before each break costs the budget nothing`() async {
        let length = 50 * Self.piece
        let (bed, response) = await load(
            Self.breaks(after: Self.piece, of: length), retries: 100, budget: 0)
        #expect(response?.error == nil)
        #expect(response?.body == patternBytes(length))
        #expect(response?.metrics.retries == 49)
        bed.expectNothingLeft()
    }

    @Test func `a body that makes progress is not retried more often than its request allows`()
        async
    {
        let (bed, response) = await load(
            Self.breaks(after: Self.piece, of: 50 * Self.piece), retries: 9, budget: 500)
        #expect(response?.error == .truncatedBody)
        #expect(bed.transport.attempts.count == 10)
        bed.expectNothingLeft()
    }

    @Test func `a body that begins anew, whatever range is asked for, costs tokens`() async {
        let (bed, response) = await load(
            .run { attempt in
                attempt.sendHead(
                    status: 200, headers: ["ETag": "\"v1\"", "Content-Length": "1000000"])
                attempt.send(patternBytes(Self.piece))
                attempt.fail(.truncatedBody, sent: .headReceived)
            }, retries: 100, budget: 28)
        #expect(response?.error == .truncatedBody)
        // The first retry asks for the rest only, and is free.
        #expect(bed.transport.attempts.count == 4)
        #expect(bed.transport.attempts[1].request.headers["Range"] == "bytes=65536-")
        bed.expectNothingLeft()
    }

    @Test func `a body that makes little progress before each break costs tokens`() async {
        let (bed, response) = await load(
            Self.breaks(after: Self.piece - 1, of: 50 * Self.piece), retries: 100, budget: 28)
        #expect(response?.error == .truncatedBody)
        #expect(bed.transport.attempts.count == 3)
        bed.expectNothingLeft()
    }

    // The progress of an earlier attempt does not pay for one that brings nothing.
    @Test func `an attempt after a break costs tokens when it brings nothing`() async {
        for failure: ScriptedAnswer in [
            .fail(.connectionReset, sent: .written), .fail(.connectRefused), .respond(status: 503),
        ] {
            let bed = TestBed(
                [Self.breaks(after: Self.piece, of: 3 * Self.piece)], otherwise: failure
            ) { $0.retry.budget = 14 }
            bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 100) })
            _ = await bed.outcome()
            // One token payment each; two of 5 fit into the budget.
            #expect((3...4).contains(bed.transport.attempts.count))
            bed.expectNothingLeft()
        }
    }
}
