// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Synchronization

/// Performs a request again whenever it has ended, until it is stopped.
final class RepeatingDelegate: DataLoaderDelegate {
    private let isStopped = Atomic(false)

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        if !isStopped.load(ordering: .relaxed) { dataLoader.perform(response.request) }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {}

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
}
