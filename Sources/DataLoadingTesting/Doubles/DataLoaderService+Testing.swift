// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading

extension DataLoaderService {
    /// Makes a service whose time moves when the test says so, and whose chance follows from a seed.
    ///
    /// - Parameters:
    ///   - configuration: As for a service of one's own; its limiter and resolver take the clock over.
    ///   - clock: The time of every wait, deadline and measurement.
    ///   - seed: Where jitter comes from; equal seeds give equal pauses.
    public convenience init(
        configuration: Configuration = Configuration(), clock: ManualClock, seed: UInt64 = 1
    ) {
        self.init(
            configuration: configuration, timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: seed)))
    }
}
