// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingCache
public import DataLoadingTransport

extension DataLoaderService {
    /// The settings of a service, with defaults that suit a daemon.
    public struct Configuration: Sendable {
        /// The `User-Agent` of requests that set none; default nil: the field is not sent.
        public var userAgent: String?
        /// Limits the rate of requests to each server; default: no limit until a rate is set.
        public var rateLimiter = RateLimiter(defaultRequestsPerSecond: nil)
        /// Holds the fallback addresses of hosts; default: DNS, until addresses are set.
        public var resolver = HostResolver()
        /// The proxy of loads, except of its direct hosts and of Unix-domain sockets; default nil.
        ///
        /// The environment never sets a proxy. Behind a proxy the addresses of `resolver` are not
        /// used, because the proxy resolves names by itself, and a credential that an authoriser
        /// limits to this machine is not sent. `refusesPrivateAddresses` cannot be kept there, so
        /// that such loads end `.unsupported`, as they do with a transport without proxies.
        public var proxy: Proxy?
        /// Adds the credential for the proxy; default nil.
        ///
        /// It is asked about a GET of the proxy's URL, from the queues of all factories. The
        /// `Authorization` of its answer is sent to the proxy as `Proxy-Authorization`, and to no
        /// server. After a 407 its `recover` decides whether the load is sent once more; a second
        /// 407 ends the load `.proxy(.status(407))`. What it loads for itself goes through the
        /// proxy too, unless that is a direct host. A reset of the service resets it.
        ///
        /// The library's authorisers send no credential over plain http to another machine: use an
        /// https proxy, or one on this machine.
        public var proxyAuthoriser: (any Authoriser)?
        /// Performs the attempts of loads; default nil.
        ///
        /// With nil the service uses `CurlTransport` on Linux and `URLSessionTransport` on Apple
        /// platforms.
        public var transport: (any Transport)?
        /// The number of threads of the default transport on Linux, each with an event loop; default:
        /// one for every four cores, and at least one.
        ///
        /// Of a container the cores of its quota count. The loads of an origin are all on one thread,
        /// so that more than one pays where loads from several origins keep a core busy. They split the
        /// idle connections that are kept. At most 64. A `transport` that is set has its own number,
        /// and URLSession chooses its threads.
        public var loops = DefaultTransport.usualLoops
        /// Pinned keys, private authorities and client certificates; default nil: the system's
        /// trust.
        ///
        /// `DataLoaderService.setServerTrustPolicy(_:)` replaces it while the service runs.
        public var serverTrustPolicy: ServerTrustPolicy?
        /// Whether peers at loopback, private and other special addresses are refused; default
        /// false.
        ///
        /// Set this in a service that loads URLs from others: a name, a spelling or a redirect may
        /// lead to a machine that only this one can reach. The transport checks the address that it
        /// connects to, after name resolution, and also an address from the resolver. The load then
        /// ends `.privateAddress`, and none of its bytes are sent to that address.
        public var refusesPrivateAddresses = false
        /// Whether https servers are offered HTTP/2; default: with libcurl 8.5.0 or later.
        public var http2 = HTTP2Use.automatic
        /// The time limits; default: connect 10 s, idle 30 s, total 60 s.
        public var timeouts = Timeouts()
        /// The limits of numbers and sizes.
        ///
        /// By default 8 attempts run for an origin and 64 in total, 10,000 loads wait, a body has
        /// up to 32 MiB and a head up to 256 KiB.
        public var limits = Limits()
        /// Keeps responses for later loads; default nil: nothing is kept.
        ///
        /// Services may share one.
        public var cache: ResponseCache?
        /// The default rules for retries.
        ///
        /// By default nothing is retried unless a request asks for it. Pauses are jittered and
        /// exponential, and each origin has a budget.
        public var retry = RetryConfiguration()

        /// Makes the default configuration.
        public init() {}

        /// Makes the transport that a service uses when none is set, to wrap it.
        ///
        /// It takes `limits` and `loops` as they are now, so set them before.
        ///
        /// ```swift
        /// configuration.transport = CountingTransport(configuration.makeDefaultTransport())
        /// ```
        public func makeDefaultTransport() -> any Transport {
            DefaultTransport.make(limits, loops: loops)
        }

        /// Checks every setting.
        ///
        /// - Throws: `.invalidConfiguration` or `.certificate` for a malformed setting.
        public func validate() throws(DataLoaderError) {
            if let fault { throw fault }
            if let userAgent, !userAgent.utf8.allSatisfy(\.isFieldValueByte) {
                throw .malformed("Configuration.userAgent", "has a control byte")
            }
            try resolver.validate()
            try rateLimiter.validate()
            try serverTrustPolicy?.validate()
        }
    }
}
