// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Hands one whole load to a task that awaits it.
final class ResponseWaiter: Recipient {
    private enum State: Sendable {
        case early
        case awaited(CheckedContinuation<DataLoaderResponse, any Error>)
        case ended(Result<DataLoaderResponse, DataLoaderError>)
        case over
    }

    let queue: DispatchQueue
    private let state = Locked(State.early)

    init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Returns the response; to be called once.
    func response() async throws -> DataLoaderResponse {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<DataLoaderResponse, DataLoaderError>? in
                guard case .ended(let result) = state else {
                    state = .awaited(continuation)
                    return nil
                }
                state = .over
                return result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    func outcomeIsReady(_ exchange: Exchange) {
        guard let response = exchange.takeOutcome() else { return }
        let result: Result<DataLoaderResponse, DataLoaderError> =
            switch response.error {
            case nil, .status: .success(response)
            case .some(let error): .failure(error)
            }
        let continuation = state.withLock {
            state -> CheckedContinuation<DataLoaderResponse, any Error>? in
            guard case .awaited(let continuation) = state else {
                state = .ended(result)
                return nil
            }
            state = .over
            return continuation
        }
        continuation?.resume(with: result)
        exchange.outcomeWasHandedOver()
    }
}
