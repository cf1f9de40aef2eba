// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// How a load ended, in a word.
package enum OutcomeWord: String, CaseIterable, Encodable, Sendable {
    case success
    case failure
    case cancelled

    /// Takes the outcome of a load with an error; nil is a success.
    package init(_ error: DataLoaderError?) {
        switch error?.kind {
        case nil: self = .success
        case .cancelled?: self = .cancelled
        case .some: self = .failure
        }
    }
}
