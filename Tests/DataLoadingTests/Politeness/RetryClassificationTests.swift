// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import Testing

@Suite struct RetryClassificationTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let end: FinishedAttempt.End
        /// The classification of a request that may be sent twice and of one that may not.
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

    // A failure without a response is retried too when the server cannot have processed it.
    private static let nothingWritten: [Cell] = [
        .dns, .connectRefused, .connectTimeout, .tls, .resources(reason: ""), .connectionReset,
        .noResponse, .http2(reason: "REFUSED_STREAM"), .transport(reason: ""), .proxy(.dns),
        .proxy(.connectRefused), .proxy(.connectTimeout), .proxy(.tls), .proxy(.connectionReset),
        .proxy(.status(.badGateway)), .proxy(.status(.tooManyRequests)),
    ].map { Cell($0, .nothingWritten, twice: .transient, once: .transient) }

    private static let written: [Cell] = [
        .noResponse, .connectionReset, .idleTimeout, .truncatedHead, .http2(reason: ""),
        .transport(reason: ""),
    ].map { Cell($0, .written, twice: .transient) }

    private static let brokenBody: [Cell] = [
        .truncatedBody, .connectionReset, .idleTimeout, .http2(reason: ""),
    ].map { Cell($0, .headReceived, twice: .transient) }

    // Cancelled and reset loads among them.
    private static let forbidden: [Cell] = [
        .certificate(reason: ""), .pin, .framing(reason: ""), .headTooLarge,
        .bodyTooLarge(limit: 1), .decode(reason: ""), .redirectLimit, .redirectRefused(reason: ""),
        .privateAddress, .proxy(.status(.proxyAuthenticationRequired)),
        .proxy(.status(HTTPStatus(rawValue: 403))), .proxy(.certificate(reason: "")),
        .proxy(.framing(reason: "")),
        .invalidRequest(.host), .requestBody(reason: ""), .unsupported(reason: ""),
        .chunksNotSupported, .cannotAuthenticate(reason: ""), .notCached, .cancelled, .reset,
        .resetInProgress, .serviceInvalidated, .overloaded, .rateLimited(wait: .zero),
        .timedOut(after: .zero, mayHaveBeenProcessed: false),
        .digestMismatch, .undecodable(status: .ok, reason: ""),
    ].flatMap { error in
        [SentState.nothingWritten, .written, .headReceived].map {
            Cell(error, $0, twice: .never)
        }
    }

    // 429 and 503 use the longer back-off.
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
    func `nothing is retried once it was delivered or without its body`(cell: Cell) {
        for mayBeSentTwice in [true, false] {
            let delivered = FinishedAttempt(
                cell.end, mayBeSentTwice: mayBeSentTwice, isDelivered: true)
            #expect(RetryClassification(delivered) == .never)
            let consumed = FinishedAttempt(
                cell.end, mayBeSentTwice: mayBeSentTwice, bodyIsReplayable: false)
            #expect(RetryClassification(consumed) == .never)
        }
    }

    // Once any of it was written, a POST is retried only after 429.
    @Test func `a non-idempotent request is retried only when the server did not act on it`() {
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
