// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingFleet
import Testing

/// The samples about daemons that share through Redis.
@Suite struct FleetSamples {
    @Test func `the sample of a fleet shares the rates of a configuration`() throws {
        let configuration = DataLoaderService.Configuration()
        let fleet = RedisFleet(
            RedisFleet.Configuration(
                endpoints: [try RedisEndpoint("rediss://redis.internal:6380")], namespace: "feeds"))
        configuration.rateLimiter.share(through: fleet, expectedMembers: 8)
        try configuration.rateLimiter.validate()
        #expect(fleet.status.connection == .none)
    }

    @Test func `the sample of two servers has an address for each`() throws {
        let endpoints = [
            try RedisEndpoint("rediss://redis-1.internal:6380"),
            try RedisEndpoint("rediss://redis-2.internal:6380"),
        ]
        #expect(Set(endpoints).count == 2)
    }

    @Test func `the sample of a user with a password shows neither`() throws {
        @Sendable func secret(_ name: String) throws -> String { name + "!" }
        var settings = RedisFleet.Configuration(
            endpoints: [
                try RedisEndpoint("rediss://redis-1.internal:6380"),
                try RedisEndpoint("rediss://redis-2.internal:6380"),
            ], namespace: "feeds-production")
        settings.user = "dataloading"
        settings.password = { try secret("redis-password") }
        let limiter = RateLimiter(defaultRequestsPerSecond: 10)
        limiter.share(
            through: RedisFleet(settings), expectedMembers: 8, whenLost: .share(for: .seconds(30)))
        try limiter.validate()
        #expect(!"\(settings)".contains("redis-password"))
    }
}
