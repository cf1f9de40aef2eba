// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The service's defaults for retries.
///
/// With a negative number or time, or a malformed timer, every load of the service ends
/// `.invalidConfiguration`.
public struct RetryConfiguration: Sendable {
    /// The maximum number of retries, for a request that sets neither a maximum nor a policy.
    ///
    /// Default 0: a load is retried only on request.
    public var maximumRetryCount = 0
    /// The pauses after temporary failures; default between 0 and 0.2 s, 0.4 s … 20 s.
    public var timer = ExponentialTimer(
        initialTime: .milliseconds(200), maxTime: .seconds(20), jitter: .full, growth: 2)
    /// The pauses after 429 and 503; default between 0 and 1 s, 2 s … 20 s.
    public var throttledTimer = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(20), jitter: .full, growth: 2)
    /// The longest `Retry-After` that a load waits for before it retries; default 60 s.
    ///
    /// When the server asks for more, the load ends with that response, so that a server cannot
    /// hold loads.
    public var maxRetryAfter = Duration.seconds(60)
    /// The retry tokens of each origin; default 500, nil for no limit.
    ///
    /// A retry takes 14 tokens, or 5 after 429 and 503. They are returned when the retry succeeds,
    /// or when its load ends before the retry is made. A load that succeeds at once adds one token
    /// (the figures of the AWS SDKs, 2026). A response below 500 that is no reason for a retry, such
    /// as 304 or 404, is a success here. A retry takes none when it asks for the rest of a body
    /// and the attempt before it brought at least 64 KiB of that body; it still counts as a retry
    /// of its load. An outage costs 35 retries per origin, or 100 after 429 and 503, for any number
    /// of loads.
    public var budget: Int? = 500

    /// Makes a configuration with the defaults above.
    public init() {}
}

extension RetryConfiguration {
    var fault: DataLoaderError? {
        if maximumRetryCount < 0 {
            return .malformed("RetryConfiguration.maximumRetryCount", "is below zero")
        }
        if maxRetryAfter < .zero {
            return .malformed("RetryConfiguration.maxRetryAfter", "is below zero")
        }
        if let budget, budget < 0 {
            return .malformed("RetryConfiguration.budget", "is below zero")
        }
        return timer.fault ?? throttledTimer.fault
    }
}
