// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderService {
    /// What a service is made with; every property has a default that suits a daemon.
    public struct Configuration: Sendable {
        /// Sent as `User-Agent` by requests that have none; default nil: no such field.
        public var userAgent: String?
        /// How often each server is asked; default: not held back until a rate is set.
        public var rateLimiter = RateLimiter(defaultRequestsPerSecond: nil)
        /// Which addresses stand in for which host; default: DNS alone until addresses are set.
        public var resolver = HostResolver()
        /// What carries requests; default nil: `CurlTransport` on Linux.
        public var transport: (any Transport)?
        /// Pins, private authorities and client certificates; default nil: the system's trust.
        public var serverTrustPolicy: ServerTrustPolicy?
        /// Whether peers at loopback, private and other special addresses are refused; default false.
        ///
        /// For services that load URLs which others choose: a name, a spelling or a redirect may
        /// lead to a machine that only this one can reach. The address that is dialled counts, after
        /// names are resolved and also when it is one that the resolver was given; such a load ends
        /// `.privateAddress` and not a byte of it is sent.
        public var refusesPrivateAddresses = false
        /// Whether HTTP/2 is offered to https servers; default: with libcurl 8.5.0 or later.
        public var http2 = HTTP2Use.automatic
        /// Connect 10 s, idle 30 s, total 60 s.
        public var timeouts = Timeouts()
        /// 8 in flight an origin, 64 in all, 10,000 waiting, bodies of 32 MiB, heads of 256 KiB.
        public var limits = Limits()
        /// No retries unless asked for, jittered exponential pauses, a budget for each origin.
        public var retry = RetryConfiguration()

        /// Makes the default configuration.
        public init() {}

        /// Throws what is malformed in the addresses, the rates or the trust policy:
        /// `.invalidConfiguration` or `.certificate`.
        public func validate() throws(DataLoaderError) {
            try resolver.validate()
            try rateLimiter.validate()
            try serverTrustPolicy?.validate()
        }
    }
}
