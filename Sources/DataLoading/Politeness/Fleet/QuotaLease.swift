// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Slots of a key's line that belong to this daemon now, and what is known of the line.
///
/// All times are distances, because the clocks of the daemons and of the store need not agree.
public struct QuotaLease: Hashable, Sendable {
    /// The number of slots, at most the number requested; may be zero.
    public var count: Int
    /// When the first slot starts, from the arrival of the answer; below zero: it has started.
    ///
    /// With no slots it is when the next one would start.
    public var firstStart: Duration
    /// The time between two of the slots.
    public var interval: Duration
    /// How far the line is leased, with these slots, from when the request was sent.
    public var lead: Duration
    /// For how long the key is closed, from when the request was sent; zero when it is open.
    public var gate: Duration

    /// Makes a lease.
    public init(
        count: Int, firstStart: Duration, interval: Duration, lead: Duration, gate: Duration = .zero
    ) {
        self.count = count
        self.firstStart = firstStart
        self.interval = interval
        self.lead = lead
        self.gate = gate
    }
}
