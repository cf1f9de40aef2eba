// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The regular end of an attempt.
public struct TransportEnd: Sendable {
    /// Fields that followed a chunked body.
    public var trailers: HTTPHeaders
    /// What was really sent and received.
    public var report: TransportReport

    /// Makes an end.
    public init(
        trailers: HTTPHeaders = HTTPHeaders(), report: TransportReport = TransportReport()
    ) {
        self.trailers = trailers
        self.report = report
    }
}

/// What one attempt really sent and received, and how long its phases took.
///
/// Under HTTP/2 head sizes are those of the HTTP/1 text, and TLS framing is never counted: libcurl
/// knows neither.
public struct TransportReport: Hashable, Sendable {
    /// Bytes of request line and header fields sent.
    public var headBytesSent: Int64 = 0
    /// Bytes of request body sent.
    public var bodyBytesSent: Int64 = 0
    /// Bytes of status lines, header fields and trailers received.
    public var headBytesReceived: Int64 = 0
    /// Bytes of response body received, before decoding.
    public var bodyBytesReceived: Int64 = 0
    /// Bytes of response body after decoding.
    public var decodedBytes: Int64 = 0
    /// The time spent on name resolution and connection, also in vain; nil on a reused connection.
    public var connectTime: Duration?
    /// The time spent on the TLS handshake; nil without one.
    public var tlsTime: Duration?
    /// The time from the start of the attempt to the first byte of the response.
    public var firstByteTime: Duration?
    /// Whether the attempt used a connection that an earlier one had opened.
    public var reusedConnection = false
    /// Whether other attempts have used the connection at the same time, which this one had opened.
    public var sharedConnection = false
    /// The numeric address of the peer, without the port.
    public var remoteAddress: String?
    /// The protocol spoken: "1.0", "1.1" or "2".
    public var httpVersion: String?

    /// Makes an empty report.
    public init() {}
}
