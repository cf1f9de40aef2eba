// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Testing

@Suite struct RetryClassificationTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let end: FinishedAttempt.End
        /// For a request that may be sent twice, and for one that may not.
        let twice: RetryClassification
        let once: RetryClassification

        init(
            _ status: Int, twice: RetryClassification, once: RetryClassification = .never
        ) {
            end = .response(ResponseHead(status: HTTPStatus(rawValue: status)))
            self.twice = twice
            self.once = once
        }

        init(
            _ error: DataLoaderError, _ sent: SentState, twice: RetryClassification,
            once: RetryClassification = .never
        ) {
            end = .failure(error, sent)
            self.twice = twice
            self.once = once
        }

        var testDescription: String {
            switch end {
            case .response(let head): "\(head.status.rawValue)"
            case .failure(let error, let sent): "\(error), \(sent)"
            }
        }
    }

    // RT-09: no response at all is retried too, when nothing can have been processed.
    private static let nothingWritten: [Cell] = [
        .dns, .connectRefused, .connectTimeout, .tls, .resources(reason: ""), .connectionReset,
        .noResponse, .http2(reason: "REFUSED_STREAM"), .transport(reason: ""),
    ].map { Cell($0, .nothingWritten, twice: .transient, once: .transient) }

    private static let written: [Cell] = [
        .noResponse, .connectionReset, .idleTimeout, .truncatedHead, .http2(reason: ""),
        .transport(reason: ""),
    ].map { Cell($0, .written, twice: .transient) }

    private static let brokenBody: [Cell] = [
        .truncatedBody, .connectionReset, .idleTimeout, .http2(reason: ""),
    ].map { Cell($0, .headReceived, twice: .transient) }

    // RT-16, RT-17: cancelled and reset among them.
    private static let forbidden: [Cell] = [
        .certificate(reason: ""), .pin, .framing(reason: ""), .headTooLarge,
        .bodyTooLarge(limit: 1), .decode(reason: ""), .redirectLimit, .redirectRefused(reason: ""),
        .privateAddress,
        .invalidRequest(.host), .requestBody(reason: ""), .unsupported(reason: ""),
        .chunksNotSupported, .cannotAuthenticate(reason: ""), .notCached, .cancelled, .reset,
        .resetInProgress, .serviceInvalidated, .overloaded, .rateLimited(wait: .zero),
        .timedOut(after: .zero, mayHaveBeenProcessed: false),
    ].flatMap { error in
        [SentState.nothingWritten, .written, .headReceived].map {
            Cell(error, $0, twice: .never)
        }
    }

    // RT-03: 429 and 503 are visible.
    private static let statuses: [Cell] =
        [
            Cell(429, twice: .throttled, once: .throttled), Cell(503, twice: .throttled),
            Cell(408, twice: .transient), Cell(425, twice: .transient),
            Cell(500, twice: .transient), Cell(502, twice: .transient),
            Cell(504, twice: .transient),
        ]
        + [200, 202, 204, 206, 301, 304, 400, 401, 403, 404, 409, 412, 415, 501, 505, 599, 999]
        .map { Cell($0, twice: .ifAsked) }

    static let cells = nothingWritten + written + brokenBody + forbidden + statuses

    @Test(arguments: cells)
    func `what was sent decides what may be retried`(cell: Cell) {
        #expect(
            RetryClassification(FinishedAttempt(cell.end, mayBeSentTwice: true)) == cell.twice)
        #expect(
            RetryClassification(FinishedAttempt(cell.end, mayBeSentTwice: false)) == cell.once)
    }

    @Test(arguments: cells)
    func `nothing is retried once any of it was delivered, or without its body`(cell: Cell) {
        for mayBeSentTwice in [true, false] {
            let delivered = FinishedAttempt(
                cell.end, mayBeSentTwice: mayBeSentTwice, isDelivered: true)
            #expect(RetryClassification(delivered) == .never)
            let consumed = FinishedAttempt(
                cell.end, mayBeSentTwice: mayBeSentTwice, bodyIsReplayable: false)
            #expect(RetryClassification(consumed) == .never)
        }
    }

    // P2 at this level: no cell lets an unmarked POST go again once any of it was written, but 429.
    @Test func `a request that may not be sent twice goes again only when it was not acted upon`() {
        let cells = Self.cells.filter { $0.once != .never }
        #expect(!cells.isEmpty)
        for cell in cells {
            switch cell.end {
            case .failure(_, let sent): #expect(sent == .nothingWritten)
            case .response(let head): #expect(head.status == .tooManyRequests)
            }
        }
    }
}
