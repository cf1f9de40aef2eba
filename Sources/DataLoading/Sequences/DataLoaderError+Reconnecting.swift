// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoaderError {
    /// Whether another load of a stream may succeed: a load of a GET would be retried, its queue was
    /// full, or its credential could not be fetched in an outage.
    var isWorthReconnecting: Bool {
        let end: FinishedAttempt.End
        switch kind {
        case .overloaded: return true
        case .cannotAuthenticate: return underlyingError.map(Self.mayFetchLater) ?? false
        case .status(let status):
            end = .response(ResponseHead(status: status, headers: HTTPHeaders()))
        default: end = .failure(self, .nothingWritten)
        }
        return switch RetryClassification(FinishedAttempt(end, mayBeSentTwice: true)) {
        case .transient, .throttled: true
        case .never, .ifAsked: false
        }
    }

    /// Whether an authoriser that ended with this error may have a credential later.
    ///
    /// An authorization server that has refused will do so again, and a store that cannot be read
    /// may never be.
    private static func mayFetchLater(_ error: any Error) -> Bool {
        switch error {
        case AuthorisationError.load(let error): error.mayHavePassed
        case AuthorisationError.timedOut: true
        case let error as DataLoaderError: error.mayHavePassed
        default: false
        }
    }

    /// Whether a load of an authoriser may succeed later; its time was the authoriser's, not the
    /// stream's.
    private var mayHavePassed: Bool {
        switch kind {
        case .timedOut, .rateLimited: true
        default: isWorthReconnecting
        }
    }
}
