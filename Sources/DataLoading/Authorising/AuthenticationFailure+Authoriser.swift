// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension AuthenticationFailure {
    /// Makes the failure for an error of the authoriser with this identifier.
    init(_ identifier: String, because error: any Error) {
        let known: String? =
            (error as? AuthorisationError).map { "\($0)" }
            ?? (error as? DataLoaderError).map { "\($0.kind)" }
        // The description of an error from outside the library may be secret.
        let reason = known.map { ": \($0)" } ?? " refused: \(type(of: error))"
        self.init(identifier + reason, underlyingError: error)
    }
}
