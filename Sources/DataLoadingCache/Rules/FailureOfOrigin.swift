// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

extension HTTPStatus {
    /// Whether the origin or the way to it has failed, so that a stored response may take the place
    /// of the answer (RFC 5861 section 4).
    package var isFailureOfOrigin: Bool {
        switch self {
        case .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout: true
        default: false
        }
    }
}
