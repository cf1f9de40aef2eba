// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Provides the body of a request again, when a `oneShot` body has to be sent a second time.
public protocol DataLoaderBodyStreamDelegate: DataLoaderDelegate {
    /// Returns a new stream for a `oneShot` body, which must not be open, or nil.
    ///
    /// With nil, and without such a delegate, the load ends with the outcome that it has.
    func dataLoader(
        _ dataLoader: DataLoader, needsNewBodyStreamFor request: DataLoaderRequest
    ) -> InputStream?
}
