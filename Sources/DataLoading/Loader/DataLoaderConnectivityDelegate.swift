// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Receives a notice when a load cannot connect and waits for a connection.
public protocol DataLoaderConnectivityDelegate: DataLoaderDelegate {
    /// The load cannot connect and waits for a connection, as its request asked.
    func dataLoader(
        _ dataLoader: DataLoader, requestIsWaitingForConnectivity request: DataLoaderRequest)
}
