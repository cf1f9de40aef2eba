// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension DataLoader {
    /// Makes a call: a load that is described in a chain and starts with its first handler.
    ///
    /// Dropping the loader cancels a call that has handlers and is not kept. A call that is kept or
    /// awaited continues.
    public func request(_ url: URL, sourceIdentifier: String? = nil) -> DataLoaderCall {
        DataLoaderCall(
            DataLoaderRequest(url: url, sourceIdentifier: sourceIdentifier), core: core)
    }
}
