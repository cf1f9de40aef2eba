// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How long the parts of a load may take, in steps of a millisecond or finer.
public struct Timeouts: Hashable, Sendable {
    /// Name resolution, connection and TLS handshake of one attempt together; default 10 s.
    ///
    /// Before that, a body that is a file or stream has as much time for its first byte.
    public var connect: Duration = .seconds(10)
    /// The longest time without a byte either way on a connection; default 30 s.
    public var idle: Duration = .seconds(30)
    /// A whole load that has no `timeout` of its own; default 60 s, nil for no limit.
    ///
    /// Waiting, authorisation, retries and redirects count. It does not apply to chunked loads.
    public var total: Duration? = .seconds(60)

    /// Makes the default time-outs.
    public init() {}
}
