// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Synchronization

/// Performs the next load when one has ended.
final class LoaderDelegate: DataLoaderDelegate {
    private let work = Mutex<(round: Round, requests: RequestCycle)?>(nil)

    func begin(_ round: Round, _ requests: RequestCycle) {
        work.withLock { $0 = (round, requests) }
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {
        let isFailure = (response.body?.isEmpty ?? true) && response.request.method != .head
        goOn(dataLoader, isFailure: isFailure)
    }

    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {
        goOn(dataLoader, isFailure: true)
    }

    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

    private func goOn(_ loader: DataLoader, isFailure: Bool) {
        guard let (round, requests) = work.withLock({ $0 }) else { return }
        if round.endedOne(isFailure: isFailure) { loader.perform(requests.next()) }
    }
}
