// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch
import Foundation

/// Delivers one whole load to a task that awaits it.
final class TaskEnd: LoadEnd {
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

    /// Returns the response; called once.
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

    func outcomeIsReady(_ load: Load, by caller: Caller) {
        load.handOver { end(with: $0) }
    }

    /// Resumes the task with an outcome; called once.
    func end(with response: DataLoaderResponse) {
        let result = response.whole
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
    }
}
