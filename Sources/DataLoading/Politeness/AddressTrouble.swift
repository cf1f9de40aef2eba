// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Why an address did not serve an attempt.
enum AddressTrouble: Hashable, Sendable {
    case status(HTTPStatus)
    case error(ErrorName?)

    /// The status, or the name of the error, as metrics have it.
    var text: String {
        switch self {
        case .status(let status): String(status.rawValue)
        case .error(let name): (name ?? .transport).rawValue
        }
    }
}
