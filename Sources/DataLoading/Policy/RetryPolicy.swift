// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// When, and how often, a load that did not succeed is tried again.
///
/// A policy is asked only about outcomes that may be retried at all: what may not, because it was
/// delivered, refused or might be processed twice, never reaches it.
public protocol RetryPolicy: Sendable {
    /// Returns the pause before the next attempt, nil to stop with this outcome, zero for at once.
    ///
    /// `n` counts attempts from 1. A negative pause counts as zero, and `Retry-After` lengthens a
    /// pause that is shorter. Called on a queue of the load's factory. While it blocks, other loads of the
    /// factory may wait for it; the load's deadline goes on.
    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration?
}

/// How one attempt ended, as a retry policy sees it.
public struct AttemptOutcome: Sendable {
    /// The status, nil when there was no response.
    public var status: HTTPStatus?
    /// The response's header fields, empty when there was no response.
    public var headers: HTTPHeaders
    /// Why there was no whole response, nil when there was one.
    public var error: DataLoaderError?
    /// How long `Retry-After` asks to wait, nil when there was none that can be read.
    public var retryAfter: Duration?
    /// Whether the outcome is one that usually passes: no connection, 408, 425, 429, 500, 502 to 504.
    public var isTransient: Bool
    /// Where a policy's chance comes from.
    package var random = RandomSource.system
    /// The wall time, by which a policy reads dates in header fields.
    package var date = Date()

    /// Makes an outcome, for a policy's tests.
    public init(
        status: HTTPStatus? = nil, headers: HTTPHeaders = HTTPHeaders(),
        error: DataLoaderError? = nil, retryAfter: Duration? = nil, isTransient: Bool = true
    ) {
        self.status = status
        self.headers = headers
        self.error = error
        self.retryAfter = retryAfter
        self.isTransient = isTransient
    }
}
