// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Synchronization

/// Counts its calls, so that a round ends when its last load was reported.
final class CountingObserver: ConsumptionObserver {
    private struct State {
        var missing = 0
        var bytes: Int64 = 0
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func expect(_ loads: Int) {
        state.withLock { $0.missing += loads }
    }

    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.missing > 0 { state.continuation = continuation }
                return state.missing == 0
            }
            if isOver { continuation.resume() }
        }
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.missing -= 1
            state.bytes += bytesDownloaded
            return state.missing == 0 ? state.continuation.take() : nil
        }
        continuation?.resume()
    }
}
