// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How an attempt ended, and everything about its load that bears on trying again.
package struct FinishedAttempt: Sendable {
    /// A response, or why there was no whole one and how far the request had got.
    package enum End: Sendable {
        case response(ResponseHead)
        case failure(DataLoaderError, SentState)
    }

    package var end: End
    /// Whether the request may reach the server twice.
    package var mayBeSentTwice: Bool
    /// Whether its body, if it has one, can be sent again.
    package var bodyIsReplayable: Bool
    /// Whether the owner was handed any part of the response.
    package var isDelivered: Bool

    package init(
        _ end: End, mayBeSentTwice: Bool, bodyIsReplayable: Bool = true, isDelivered: Bool = false
    ) {
        self.end = end
        self.mayBeSentTwice = mayBeSentTwice
        self.bodyIsReplayable = bodyIsReplayable
        self.isDelivered = isDelivered
    }
}

/// What may be retried, decided by what was sent: the table of the guarantees.
package enum RetryClassification: Hashable, Sendable {
    /// Not by anybody: it would be sent or delivered twice, or would fail again, or was ended.
    case never
    /// Only by a policy of the user's own: the response is whole and no sign of trouble.
    case ifAsked
    /// Yes: it usually passes.
    case transient
    /// Yes, and slowly: the server asks for mercy.
    case throttled

    package init(_ attempt: FinishedAttempt) {
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
        // Refused before it was worked on (RFC 6585 section 4), so that any method may come again.
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
        switch error {
        case .dns, .connectRefused, .connectTimeout, .tls, .resources, .noResponse,
            .connectionReset, .idleTimeout, .truncatedHead, .truncatedBody, .http2, .transport:
            // What was written may have been acted upon.
            sent == .nothingWritten || mayBeSentTwice ? .transient : .never
        case .certificate, .pin, .privateAddress, .framing, .headTooLarge, .bodyTooLarge, .decode,
            .redirectLimit, .redirectRefused, .invalidRequest, .requestBody, .responseSink,
            .unsupported, .chunksNotSupported,
            .cannotAuthenticate, .invalidConfiguration, .notCached, .status:
            // It would fail again.
            .never
        case .cancelled, .reset, .resetInProgress, .serviceInvalidated, .timedOut, .overloaded,
            .rateLimited:
            // It was ended, or was never to be sent.
            .never
        }
    }
}
