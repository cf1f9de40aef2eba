// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// How a load ended, in a word.
enum Outcome: String, CaseIterable, Sendable {
    case success
    case failure
    case cancelled

    /// Takes the outcome of a load with an error; nil is a success.
    init(_ error: DataLoaderError?) {
        switch error?.kind {
        case nil: self = .success
        case .cancelled?: self = .cancelled
        case .some: self = .failure
        }
    }
}
