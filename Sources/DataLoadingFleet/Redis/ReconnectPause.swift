// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The pauses between connections: from nothing up to 100 ms, doubling to 1 s, so that a fleet does
/// not come back in step.
struct ReconnectPause {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(1)
    private var limit = first

    /// Returns the pause to take now, and doubles the limit of the next.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { limit = min(Self.longest, limit * 2) }
        return limit * Double.random(in: 0...1, using: &generator)
    }

    /// Begins anew, once a server has answered.
    mutating func reset() { limit = Self.first }
}
