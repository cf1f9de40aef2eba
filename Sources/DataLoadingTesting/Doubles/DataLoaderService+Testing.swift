// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoading

extension DataLoaderService {
    /// Makes a service on a manual clock, with randomness from a seed.
    ///
    /// - Parameters:
    ///   - configuration: The configuration; its limiter and resolver take over the clock.
    ///   - clock: The time of every wait, deadline and measurement.
    ///   - seed: The seed of all jitter; equal seeds give equal pauses.
    public convenience init(
        configuration: Configuration = Configuration(), clock: ManualClock, seed: UInt64 = 1
    ) {
        self.init(
            configuration: configuration, timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: seed)))
        clock.add(
            queues: workQueues,
            transport: configuration.transport?.first(ScriptedTransport.self)?.queue)
    }
}
