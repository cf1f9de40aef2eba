// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoaderError {
    /// The error of a load that the authoriser with this identifier could not authorise.
    static func cannotAuthenticate(_ identifier: String, because error: any Error) -> Self {
        let known: String? =
            (error as? AuthorisationError).map { "\($0)" }
            ?? (error as? DataLoaderError).map { "\($0.kind)" }
        // The description of an error from outside the library may be secret.
        let reason = known.map { ": \($0)" } ?? " failed: \(type(of: error))"
        return Self(.cannotAuthenticate(reason: identifier + reason), underlyingError: error)
    }
}
