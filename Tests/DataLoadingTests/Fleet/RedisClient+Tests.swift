// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSupport
    import DataLoadingTesting

    extension RedisClient {
        /// Makes a client that a busy machine does not disturb.
        static func make(
            _ endpoints: RedisEndpoint..., patience limit: Duration = .seconds(60),
            maxWaiting: Int = 256
        ) -> RedisClient {
            var configuration = RedisConfiguration(endpoints: endpoints)
            configuration.patience = limit
            configuration.connectLimit = .seconds(60)
            configuration.maxWaiting = maxWaiting
            return RedisClient(
                configuration, randomness: RandomSource(SeededGenerator(seed: 1)))
        }
    }
#endif
