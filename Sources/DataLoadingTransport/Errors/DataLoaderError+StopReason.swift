// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderError {
    /// The reason for making no further attempt.
    ///
    /// Later versions may add cases: a `switch` outside the package needs `@unknown default`.
    @nonexhaustive public enum StopReason: Hashable, Sendable {
        /// The maximum number of retries was made; it may be 0.
        case retriesUsedUp
        /// The retry budget of the origin is empty.
        case budgetEmpty
        /// The pause before a retry would end after the deadline.
        case deadlineTooNear
        /// The server asks for a longer pause than `RetryConfiguration.maxRetryAfter`.
        case retryAfterTooLong
        /// The server may have processed the request, or its body cannot be sent again.
        case notRepeatable
        /// The request's retry policy returned nil.
        case policy
        /// A part of the response was already delivered.
        case alreadyDelivered
        /// Another attempt would end in the same way.
        case permanent
    }
}

extension DataLoaderError.StopReason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .retriesUsedUp: "all retries were made"
        case .budgetEmpty: "the retry budget of the origin is empty"
        case .deadlineTooNear: "the deadline is too near"
        case .retryAfterTooLong: "the server asks for too long a pause"
        case .notRepeatable: "the request cannot be repeated safely"
        case .policy: "the retry policy said no"
        case .alreadyDelivered: "a part of the response was already delivered"
        case .permanent: "another attempt would end in the same way"
        }
    }
}
