// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The configuration of a loop.
struct LoopSetup: Sendable {
    var idle = IdleConnections()
    var lookup: NameResolver.Lookup = NameResolver.systemLookup
    var names = NameLifetimes()
    var sleep = SleepWatch()
    /// The abilities that the library is treated as lacking, for tests.
    var lacking: Set<CurlLibrary.Ability> = []
}

/// Measures how long the machine has slept since it was started.
struct SleepWatch: Sendable {
    /// The minimum sleep after which idle connections are dropped, in nanoseconds.
    static let minimum: Int64 = 5_000_000_000

    /// Returns how long the machine has slept, in nanoseconds; nil for the difference of the loop's
    /// two clocks.
    ///
    /// These are read one after the other, so that the difference is not exact.
    var slept: (@Sendable () -> Int64)?
}
