// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
import DataLoadingTesting

/// A request that an authoriser was asked about, to be answered when the test says so.
final class HeldQuestion: Sendable {
    private enum State: Sendable {
        case open
        case waiting(CheckedContinuation<DataLoaderRequest, any Error>)
        case answered(Result<DataLoaderRequest, any Error>)
    }

    let request: DataLoaderRequest
    private let state = Locked(State.open)

    init(_ request: DataLoaderRequest) {
        self.request = request
    }

    /// Gives the first answer; later ones do nothing.
    func answer(_ answer: Result<DataLoaderRequest, any Error>) {
        let waiting = state.withLock {
            state -> CheckedContinuation<DataLoaderRequest, any Error>? in
            switch state {
            case .answered: return nil
            case .open:
                state = .answered(answer)
                return nil
            case .waiting(let continuation):
                state = .answered(answer)
                return continuation
            }
        }
        waiting?.resume(with: answer)
    }

    /// What an authoriser answers; says when the load has ended before.
    func authorisation(onCancel: @escaping @Sendable () -> Void = {}) -> Authorisation {
        .later { [self] in
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let answer = state.withLock { state -> Result<DataLoaderRequest, any Error>? in
                        if case .answered(let answer) = state { return answer }
                        state = .waiting(continuation)
                        return nil
                    }
                    if let answer { continuation.resume(with: answer) }
                }
            } onCancel: {
                onCancel()
                answer(.failure(CancellationError()))
            }
        }
    }
}

extension Authoriser {
    /// Whether it has something to say about a request.
    func takesPart(in request: DataLoaderRequest) -> Bool {
        if case .unchanged = authorise(request) { return false }
        return true
    }
}
