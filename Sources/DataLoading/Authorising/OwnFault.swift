// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// An authoriser's own error, with which a load ends unchanged.
///
/// A separate type, because a fetch may end with the same error from a load of its own.
package struct OwnFault: Error {
    package let error: DataLoaderError

    package init(_ error: DataLoaderError) {
        self.error = error
    }
}
