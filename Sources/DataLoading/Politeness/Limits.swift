// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Limits how many loads a service runs and how much data it keeps.
///
/// Numbers of attempts are from 1 to 1,000,000, the head is at least one byte, and the others are
/// not below zero. With another value every load of the service ends `.invalidConfiguration`.
public struct Limits: Hashable, Sendable {
    /// The maximum number of simultaneous attempts to one origin; default 8, as in AsyncHTTPClient.
    public var perOrigin = 8
    /// The maximum number of simultaneous attempts in total; default 64, as in OkHttp.
    public var total = 64
    /// The maximum number of simultaneous attempts to one origin with the slot use `.stream`;
    /// default 8.
    public var streamsPerOrigin = 8
    /// The maximum number of simultaneous attempts in total with slot use `.stream`; default 64.
    public var streams = 64
    /// The maximum number of waiting loads; default 10,000.
    ///
    /// It applies to the loads that wait for admission, and separately to the loads that wait for
    /// the user code of one factory. One more load ends `.overloaded`.
    public var queue = 10_000
    /// The maximum size of a decoded body that is delivered whole, in bytes; default 32 MiB.
    public var body: Int64 = 33_554_432
    /// The maximum size of a response head, in bytes; default 256 KiB, as in OkHttp.
    public var head = 262_144

    /// The range of a limit of simultaneous attempts; it ends above the descriptors of any process.
    static let slotRange = 1...1_000_000

    /// Makes the default limits.
    public init() {}
}
