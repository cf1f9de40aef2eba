// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How a service retries what its requests say nothing about.
public struct RetryConfiguration: Sendable {
    /// How many attempts may follow the first, for a request that neither says so nor has a policy.
    ///
    /// Default 0: a load is retried only when somebody asked for it.
    public var maximumRetryCount = 0
    /// The pauses after failures that usually pass; default between 0 and 0.2 s, 0.4 s … 20 s.
    public var timer = ExponentialTimer(
        initialTime: .milliseconds(200), maxTime: .seconds(20), jitter: .full, growth: 2)
    /// The pauses after 429 and 503; default between 0 and 1 s, 2 s … 20 s.
    public var throttledTimer = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(20), jitter: .full, growth: 2)
    /// The longest `Retry-After` that a load waits for before it tries again; default 60 s.
    ///
    /// A server that asks for more ends the load with its response, so that it cannot park loads.
    public var longestRetryAfter = Duration.seconds(60)
    /// The tokens that each origin has for retries; default 500, nil for no limit.
    ///
    /// A retry takes 14, or 5 after 429 and 503, and gives them back when it succeeds, or when its load
    /// ends before it; a load that succeeds at once adds one (the figures of the AWS SDKs, 2026). So an
    /// outage costs 35 retries per origin, or 100 after 429 and 503, however many loads it meets.
    public var budget: Int? = 500

    /// Makes a configuration with the defaults above.
    public init() {}
}
