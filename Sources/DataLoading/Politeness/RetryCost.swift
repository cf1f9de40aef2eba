// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The tokens that a retry takes from its origin's budget and returns when it succeeds.
enum RetryCost: Int, Hashable, Sendable {
    /// After 429 or 503: the server is up and responds.
    case throttled = 5
    /// After any other retryable outcome.
    case transient = 14
}
