// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The outcome of an attempt, and the facts about its load that a retry depends on.
struct FinishedAttempt: Sendable {
    /// A response, or the error and how much of the request was sent.
    enum End: Sendable {
        case response(ResponseHead)
        case failure(DataLoaderError, SentState)
    }

    var end: End
    /// Whether the request may reach the server twice.
    var mayBeSentTwice: Bool
    /// Whether the request's body, if any, can be sent again.
    var bodyIsReplayable: Bool
    /// Whether any part of the response was delivered to the owner.
    var isDelivered: Bool

    init(
        _ end: End, mayBeSentTwice: Bool, bodyIsReplayable: Bool = true, isDelivered: Bool = false
    ) {
        self.end = end
        self.mayBeSentTwice = mayBeSentTwice
        self.bodyIsReplayable = bodyIsReplayable
        self.isDelivered = isDelivered
    }
}

/// Classifies attempts by whether they may be retried, from what was sent.
///
/// This is the retry table of the guarantees.
enum RetryClassification: Hashable, Sendable {
    /// Never retried.
    ///
    /// It could be sent or delivered twice, would fail the same way, or was ended on purpose.
    case never
    /// Retried if a user's policy asks for it: the response is complete and no sign of trouble.
    case ifAsked
    /// Retryable: the failure is usually temporary.
    case transient
    /// Retryable with the longer back-off: the server answered 429 or 503.
    case throttled

    init(_ attempt: FinishedAttempt) {
        guard !attempt.isDelivered, attempt.bodyIsReplayable else {
            self = .never
            return
        }
        switch attempt.end {
        case .response(let head):
            self = Self.status(head.status, mayBeSentTwice: attempt.mayBeSentTwice)
        case .failure(let error, let sent):
            self = Self.failure(error, sent: sent, mayBeSentTwice: attempt.mayBeSentTwice)
        }
    }

    private static func status(_ status: HTTPStatus, mayBeSentTwice: Bool) -> Self {
        // Refused before it was processed (RFC 6585 section 4), so any method may be sent again.
        if status == .tooManyRequests { return .throttled }
        guard mayBeSentTwice else { return .never }
        switch status {
        case .serviceUnavailable: return .throttled
        case .requestTimeout, .tooEarly, .internalServerError, .badGateway, .gatewayTimeout:
            return .transient
        default: return .ifAsked
        }
    }

    private static func failure(
        _ error: DataLoaderError, sent: SentState, mayBeSentTwice: Bool
    ) -> Self {
        switch error.kind {
        case .dns, .connectRefused, .connectTimeout, .tls, .resources, .noResponse,
            .connectionReset, .idleTimeout, .truncatedHead, .truncatedBody, .http2, .transport:
            // The server may have acted on what was written.
            sent == .nothingWritten || mayBeSentTwice ? .transient : .never
        case .proxy(let fault):
            fault.isTemporary ? .transient : .never
        case .certificate, .pin, .privateAddress, .framing, .headTooLarge, .bodyTooLarge, .decode,
            .redirectLimit, .redirectRefused, .invalidRequest, .requestBody, .responseSink,
            .digestMismatch, .unsupported, .chunksNotSupported, .interceptor,
            .cannotAuthenticate, .invalidConfiguration, .notCached, .status, .undecodable:
            // It would fail again.
            .never
        case .cancelled, .reset, .resetInProgress, .serviceInvalidated, .timedOut, .overloaded,
            .rateLimited:
            // It was ended on purpose, or was never to be sent.
            .never
        }
    }
}
