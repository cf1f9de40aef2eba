// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How much a service does and holds at once.
public struct Limits: Hashable, Sendable {
    /// The most attempts in flight to one origin; default 8, as many connections as AsyncHTTPClient keeps.
    public var perOrigin = 8
    /// The most attempts in flight in all; default 64, as OkHttp's dispatcher has it.
    public var total = 64
    /// The most loads that wait for admission, and the most that wait for the users' code of one
    /// factory; default 10,000, one more ends `.overloaded`.
    public var queue = 10_000
    /// The most decoded body bytes of a response that is delivered whole; default 32 MiB.
    public var body: Int64 = 33_554_432
    /// The most bytes of response head; default 256 KiB, as OkHttp has it.
    public var head = 262_144

    /// Makes the default limits.
    public init() {}
}
