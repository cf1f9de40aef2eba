// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The bytes that one attempt sent and received, and the times of its phases.
///
/// With HTTP/2, head sizes are those of the HTTP/1 text, and TLS framing is never counted: libcurl
/// reports neither.
public struct TransportReport: Hashable, Sendable {
    /// Bytes of the request line and header fields sent.
    public var headBytesSent: Int64 = 0
    /// Bytes of the request body sent.
    public var bodyBytesSent: Int64 = 0
    /// Bytes of status lines, header fields and trailers received, informational heads included.
    public var headBytesReceived: Int64 = 0
    /// Bytes of the response body received, before decoding.
    public var bodyBytesReceived: Int64 = 0
    /// Bytes of the response body after decoding.
    public var decodedBytes: Int64 = 0
    /// The time spent on name resolution and connecting, successful or not; nil on a reused
    /// connection.
    public var connectTime: Duration?
    /// The time spent on the TLS handshake; nil without one.
    public var tlsTime: Duration?
    /// The time from the start of the attempt to the first byte of the response.
    public var firstByteTime: Duration?
    /// Whether the attempt used a connection that an earlier one had opened.
    public var reusedConnection = false
    /// Whether this attempt opened its connection, and other attempts used it at the same time.
    public var sharedConnection = false
    /// The numeric address of the peer, without the port, or "unix:" and the path of its socket.
    public var remoteAddress: String?
    /// The HTTP version: "1.0", "1.1" or "2".
    public var httpVersion: String?

    /// Makes an empty report.
    public init() {}
}
