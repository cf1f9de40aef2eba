// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingTransport

/// What a cache does with a request.
package enum CacheDecision: Hashable, Sendable {
    /// Answer with the stored response.
    case reuse(Reuse)
    /// Answer 304: the stored response is fresh, and the caller has the same.
    case notModified
    /// Send the request with these fields added; a 304 confirms the stored response.
    case validate(HTTPHeaders, mayUseOnError: Bool)
    /// Send the request as it is.
    case forward(CacheStatus.Forward, mayUseOnError: Bool)
    /// Nothing may be used, and the origin must not be asked.
    case unavailable

    /// Why a stored response may be used.
    package enum Reuse: Hashable, Sendable {
        case fresh
        /// The caller takes a response of that age (`max-stale`).
        case asCallerAllows
        /// It may be used while it is validated (RFC 5861 section 3).
        case whileRevalidating
        /// The origin must not be asked.
        case withoutOrigin
    }
}
