// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// A source of credentials that answers when the test says so.
final class HeldFetch<Value: Sendable>: Sendable {
    /// One call.
    struct Call: Sendable {
        /// The previous credentials.
        let previous: Value?
        private let continuation: CheckedContinuation<Value, any Error>

        init(previous: Value?, _ continuation: CheckedContinuation<Value, any Error>) {
            self.previous = previous
            self.continuation = continuation
        }

        func answer(_ value: Value) { continuation.resume(returning: value) }

        func fail(_ error: any Error) { continuation.resume(throwing: error) }
    }

    private let calls = EventRecorder<Call>()

    /// The number of calls.
    var count: Int { calls.elements.count }

    /// Returns the call with a number, from 0, once it was made.
    func call(_ index: Int) async -> Call { await calls.first(index + 1)[index] }

    /// The closure for an authoriser.
    func callAsFunction(_ previous: Value?) async throws -> Value {
        try await withCheckedThrowingContinuation { calls.record(Call(previous: previous, $0)) }
    }
}
