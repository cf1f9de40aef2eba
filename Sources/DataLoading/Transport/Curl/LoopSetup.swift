// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// What a loop is made with, beside the library and its descriptors.
    struct LoopSetup: Sendable {
        var idle = IdleConnections()
        var lookup: NameResolver.Lookup = NameResolver.systemLookup
        var names = NameLifetimes()
        var sleep = SleepWatch()
        /// What the library is taken not to be able to do.
        var lacking: Set<CurlLibrary.Ability> = []
    }

    /// Tells for how long the machine has slept since it was started.
    struct SleepWatch: Sendable {
        /// A sleep that connections are not trusted after, in nanoseconds.
        static let least: Int64 = 5_000_000_000

        /// Nanoseconds; the two clocks are read one after the other, so that it is not exact.
        var slept: @Sendable () -> Int64 = { LoopClock.now &- LoopClock.uptime }
    }
#endif
