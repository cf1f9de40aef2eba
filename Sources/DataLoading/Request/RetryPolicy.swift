// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingTransport
import Foundation

/// Decides whether and when a load is retried.
///
/// The loader asks a policy only about outcomes that may be retried. It never asks about a response
/// that was delivered, about a refusal, or about a request that might be processed twice.
public protocol RetryPolicy: Sendable {
    /// Returns the pause before the next attempt, or nil to stop with this outcome.
    ///
    /// A pause of zero retries at once.
    ///
    /// `n` counts attempts from 1. A negative pause counts as zero. A longer `Retry-After` replaces
    /// the pause. The loader calls this on a queue of the load's factory. While it blocks, other
    /// loads of the factory may wait, and the load's deadline keeps running.
    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration?
}

/// The outcome of one attempt, as a retry policy receives it.
public struct AttemptOutcome: Sendable {
    /// The request of the attempt, without the changes of authorisers.
    ///
    /// It has the URL of the last redirect, and the `User-Agent` of the service. It has no
    /// `retryPolicy`: a policy that keeps outcomes would keep itself.
    public var request: DataLoaderRequest
    /// The status; nil without a response.
    public var status: HTTPStatus?
    /// The response's header fields; empty without a response.
    public var headers: HTTPHeaders
    /// The error that left the response incomplete; nil when it was complete.
    public var error: DataLoaderError?
    /// The delay in `Retry-After`; nil without a readable one.
    public var retryAfter: Duration?
    /// Whether the outcome is usually temporary.
    ///
    /// True for a network failure, 408, 425, 429, 500, 502, 503 and 504.
    public var isTransient: Bool
    /// The policy's source of randomness.
    var random = RandomSource.system
    /// The wall time, for a policy that reads dates in header fields.
    var date = Date()

    /// Makes an outcome, for tests of a policy.
    public init(
        of request: DataLoaderRequest, status: HTTPStatus? = nil,
        headers: HTTPHeaders = HTTPHeaders(), error: DataLoaderError? = nil,
        retryAfter: Duration? = nil,
        isTransient: Bool = true
    ) {
        self.request = request
        self.request.retryPolicy = nil
        self.status = status
        self.headers = headers
        self.error = error
        self.retryAfter = retryAfter
        self.isTransient = isTransient
    }
}
