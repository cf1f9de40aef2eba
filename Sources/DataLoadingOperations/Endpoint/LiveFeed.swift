// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What the endpoint sends to a page that is connected; called on the endpoint's thread.
///
/// All of it is JSON in one line.
protocol LiveFeed: Sendable {
    /// What the service does now: an object.
    func snapshot() -> [UInt8]
    /// The loads that ended after the load with this number in the feed, an array of 50 at most, and
    /// the number of the last of them; nil for none.
    func loads(after number: Int64) -> (data: [UInt8], last: Int64)?
}
