// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// A source of credentials that answers when the test says so.
final class HeldFetch<Value: Sendable>: Sendable {
    /// One call.
    struct Call: Sendable {
        /// What there was before.
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

    /// How often it was asked.
    var count: Int { calls.elements.count }

    /// Returns a call of a number, from 0, once it was made.
    func call(_ index: Int) async -> Call { await calls.first(index + 1)[index] }

    /// What an authoriser calls.
    func callAsFunction(_ previous: Value?) async throws -> Value {
        try await withCheckedThrowingContinuation { calls.record(Call(previous: previous, $0)) }
    }
}
