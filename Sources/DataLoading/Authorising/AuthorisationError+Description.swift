// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
public import Foundation

extension AuthorisationError: CustomStringConvertible, LocalizedError {
    /// The reason in words; it never holds a secret.
    public var description: String {
        switch self {
        case .noCredentials: "there are no credentials"
        case .refused(let code): "the server refused: \(code)"
        case .tooManyRefreshes: "too many refreshes"
        case .timedOut: "no credential within the time limit"
        case .noAnswer: "the delegate was released without an answer"
        case .reset: "the authoriser was reset"
        case .unknownMethod(let method): "no authoriser has the method \(method.rawValue)"
        // Without the context, so that the same failure has the same words for every load.
        case .load(let error): "\(error.kind)"
        case .invalidAnswer(let reason): "the answer is invalid: \(reason)"
        case .invalidConfiguration(let reason): "the configuration is invalid: \(reason)"
        case .store(let reason): "the credentials cannot be stored: \(reason)"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
