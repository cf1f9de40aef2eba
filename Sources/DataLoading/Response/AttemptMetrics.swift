// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport

/// One attempt of a load: why it was made, where it went, and what became of it.
///
/// This sample prints what a load has been through:
///
/// ```swift
/// for attempt in response.metrics.attemptMetrics {
///     let outcome = attempt.failure?.name ?? attempt.status.map { "\($0)" } ?? "-"
///     print(attempt.address ?? "-", outcome, attempt.duration)
/// }
/// ```
public struct AttemptMetrics: Hashable, Sendable {
    /// Why it followed another one; nil for the first of a load.
    public var cause: AttemptContext.Cause?
    /// The configured address that was chosen for it, or else that of its peer, without the port.
    ///
    /// It is nil where DNS was used and there was no connection.
    public var address: String?
    /// The status of its response; nil when no head arrived, or the load had ended before.
    public var status: HTTPStatus?
    /// Why it failed; nil for a whole response, whatever its status.
    ///
    /// It is `.cancelled` where the load had no more use for it, and has nothing but its kind.
    public var failure: DataLoaderError?
    /// The time from its start to its end; the wait for its slots came before.
    public var duration: Duration = .zero
    /// The time spent on name resolution and connecting; nil on a reused connection.
    public var connectTime: Duration?
    /// The time spent on the TLS handshake; nil without one.
    public var tlsTime: Duration?
    /// The time from its start to the first byte of its response; nil without one.
    public var firstByteTime: Duration?
    /// Whether it used a connection that an earlier one had opened.
    public var reusedConnection = false
    /// The protocol: "1.0", "1.1" or "2"; nil without a response.
    public var httpVersion: String?
    /// The bytes of its request's head.
    public var headBytesSent: Int64 = 0
    /// The bytes of its request's body.
    public var bodyBytesSent: Int64 = 0
    /// The bytes of its response's heads and trailers.
    public var headBytesReceived: Int64 = 0
    /// The bytes of its response's body, before decoding.
    public var bodyBytesReceived: Int64 = 0

    /// Makes empty metrics.
    public init() {}

    /// Makes those of an attempt that the transport has reported.
    init(_ report: TransportReport) {
        address = report.remoteAddress
        connectTime = report.connectTime
        tlsTime = report.tlsTime
        firstByteTime = report.firstByteTime
        reusedConnection = report.reusedConnection
        httpVersion = report.httpVersion
        headBytesSent = report.headBytesSent
        bodyBytesSent = report.bodyBytesSent
        headBytesReceived = report.headBytesReceived
        bodyBytesReceived = report.bodyBytesReceived
    }
}
