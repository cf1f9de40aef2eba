// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The time limits of a load, with a resolution of a millisecond or finer.
///
/// With a limit of zero or less every load of the service ends `.invalidConfiguration`.
public struct Timeouts: Hashable, Sendable {
    /// The limit for name resolution, connecting and the TLS handshake of one attempt together;
    /// default 10 s.
    ///
    /// A body that is a file or a stream has the same time for its first byte, before the attempt
    /// connects.
    public var connect: Duration = .seconds(10)
    /// The maximum time without a byte sent or received on a connection; default 30 s.
    public var idle: Duration = .seconds(30)
    /// The limit for a whole load that has no `timeout` of its own; default 60 s, nil for no limit.
    ///
    /// Waiting, authorisation, retries and redirects count. The limit does not apply to loads in
    /// chunks, nor to loads with a `responseSink` other than `.memory`.
    public var total: Duration? = .seconds(60)

    /// Makes the default timeouts.
    public init() {}
}
