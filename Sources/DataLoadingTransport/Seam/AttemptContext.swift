// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a transport may know of the load that makes an attempt.
///
/// A transport that wraps another one can tell the attempts of a load apart and join them, for its
/// log, metrics or spans.
public struct AttemptContext: Hashable, Sendable {
    /// Why a load makes another attempt.
    public enum Cause: Hashable, Sendable {
        /// The request is repeated after a failure: by the retry policy, or after a time without a
        /// connection.
        case retry
        /// The request continues a response that broke off.
        case resumption
        /// A redirect is followed.
        case redirect
        /// The authorisers were asked again after a 401 or 407.
        case reauthorisation
        /// The same attempt goes to another address of its host, because the one before failed.
        case nextAddress
        /// The attempt replaces one that the server did not process, or one on a stale connection.
        case replacement
        /// The whole response is asked for, because a stored one or a part of it is of no use.
        case wholeResponse
    }

    /// The number of the load, as in ``LoadMetrics``; 0 for a request that no load makes.
    ///
    /// A load that goes through interceptors has the number of the load inside. A request that
    /// several loads share has the number of a load of its own.
    public var load: Int64 = 0
    /// The request's name for the feature that makes it; nil for none.
    public var sourceIdentifier: String?
    /// The number of attempts that the load has started before, whatever their cause.
    ///
    /// Attempts at further addresses count, unlike in the load's metrics.
    public var resendCount = 0
    /// Why this attempt follows another one; nil for the first of a load.
    public var cause: Cause?
    /// Whether an authoriser makes the load for itself, for example to fetch a token.
    public var isInternal = false

    /// Makes the context of a request that no load makes.
    public init() {}
}
