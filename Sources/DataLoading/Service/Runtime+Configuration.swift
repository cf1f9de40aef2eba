// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension Runtime {
    /// Makes what the loads of a service with this configuration share.
    convenience init(
        _ configuration: DataLoaderService.Configuration, timekeeper: any Timekeeper,
        random: RandomSource
    ) {
        self.init(
            limiter: configuration.rateLimiter, resolver: configuration.resolver,
            transport: configuration.transport ?? configuration.makeDefaultTransport(),
            limits: configuration.limits, retry: configuration.retry,
            attempts: AttemptSettings(
                userAgent: configuration.userAgent, timeouts: configuration.timeouts,
                refusesPrivateAddresses: configuration.refusesPrivateAddresses,
                http2: configuration.http2, proxy: configuration.proxy),
            trustPolicy: configuration.serverTrustPolicy,
            proxyAuthoriser: ProxyAuthoriser(
                configuration.proxyAuthoriser, for: configuration.proxy),
            cache: configuration.cache, fault: configuration.fault, timekeeper: timekeeper,
            random: random)
    }
}
