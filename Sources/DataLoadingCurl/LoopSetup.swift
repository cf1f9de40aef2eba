// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The configuration of a loop.
struct LoopSetup: Sendable {
    var idle = IdleConnections()
    var lookup: NameResolver.Lookup = NameResolver.systemLookup
    /// The number of threads for name look-ups.
    var lookupLimit = NameResolver.workerLimit
    /// The limit of the reads of bodies, which all loops of a transport share.
    var readers = BodyReaders()
    var names = NameLifetimes()
    var sleep = SleepWatch()
    /// The abilities that the library is treated as lacking, for tests.
    var lacking: Set<CurlLibrary.Ability> = []

    /// Returns the configuration of each of several loops: a part of the limits that a loop keeps by
    /// itself.
    func share(of loops: Int) -> LoopSetup {
        var share = self
        share.idle = idle.share(of: loops)
        share.lookupLimit = max(2, lookupLimit / loops)
        return share
    }
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
