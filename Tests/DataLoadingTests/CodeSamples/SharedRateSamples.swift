// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Testing

/// The samples about rates that several daemons share.
@Suite struct SharedRateSamples {
    private func makeLimiter(_ provider: any QuotaProvider) -> RateLimiter {
        let limiter = RateLimiter(defaultRequestsPerSecond: 10)
        limiter.share(through: provider, expectedMembers: 8)
        return limiter
    }

    @Test func `the limiter of the samples is well formed`() throws {
        try makeLimiter(SharedQuota(clock: ManualClock()).makeMember("one")).validate()
    }

    @Test func `the daemons of the sample share through one store`() {
        var services: [DataLoaderService] = []
        let clock = ManualClock()
        let quota = SharedQuota(clock: clock)
        for name in ["one", "two"] {
            var configuration = DataLoaderService.Configuration()
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10)
            configuration.rateLimiter.share(through: quota.makeMember(name), expectedMembers: 2)
            services.append(DataLoaderService(configuration: configuration, clock: clock))
        }
        quota.outage = .silence  // from now on each uses five a second
        #expect(services.count == 2)
        #expect(quota.outage == .silence)
        quota.outage = nil
        for service in services { service.invalidateAndCancel() }
    }
}
