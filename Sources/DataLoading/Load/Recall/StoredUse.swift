// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingTransport
import Foundation

/// A fresh stored response that a load takes as it is.
///
/// A transfer in place of one from the wire would cost a hit a third more instructions and four
/// allocations (callgrind).
struct StoredWhole: Sendable {
    let head: ResponseHead
    let body: Data
    let recalled: Recall
}

/// The way in which a stored response becomes that of a load.
enum StoredUse: Sendable {
    /// It answers by itself.
    case answer(StoredAnswer, ResponseSource)
    /// It answers the caller's own condition: he has it already.
    case notModified(StoredAnswer)
    /// The server has confirmed it; with what it was before, and whether it may stay stored.
    case confirmed(StoredAnswer, was: StoredResponse, mayStay: Bool)
    /// It takes the place of an error.
    case onError(StoredAnswer)

    var stored: StoredAnswer {
        switch self {
        case .answer(let stored, _), .notModified(let stored), .confirmed(let stored, _, _),
            .onError(let stored):
            stored
        }
    }

    var source: ResponseSource {
        switch self {
        case .answer(_, let source): source
        case .notModified: .cache
        case .confirmed: .validated
        case .onError: .stale
        }
    }
}

extension CacheDecision {
    /// The way in which a decision uses what is stored; nil when the server is to be asked.
    func use(_ stored: StoredAnswer?) -> StoredUse? {
        guard let stored else { return nil }
        return switch self {
        case .reuse(.fresh): .answer(stored, .cache)
        case .reuse: .answer(stored, .stale)
        case .notModified: .notModified(stored)
        case .validate, .forward, .unavailable: nil
        }
    }
}
