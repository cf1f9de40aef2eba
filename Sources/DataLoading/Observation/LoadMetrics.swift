// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a load cost, over all its attempts.
///
/// Durations add up over attempts; byte counts are what transports really sent and received.
public struct LoadMetrics: Hashable, Sendable {
    /// How many times the request was sent, or tried to be: retries, redirects and re-authorised
    /// sends included, further addresses of the same attempt not.
    public var attempts = 0
    /// How many of the attempts were retries.
    public var retries = 0
    /// How many of the attempts took the place of one whose connection was stale, or whose server did
    /// nothing with it: at most one a load, which is no retry.
    ///
    /// A connection is stale that was kept or shared and ended without a byte of response. Only a
    /// request that may be sent twice is then sent again. One that HTTP/2 says was not processed
    /// may be sent again whatever its method.
    public var replacedConnections = 0
    /// How many redirects were followed.
    public var redirects = 0
    /// The configured addresses that were dialled, each once, the first 32; empty for DNS alone.
    public var addresses: [String] = []
    /// Bytes of request head sent.
    public var headBytesSent: Int64 = 0
    /// Bytes of request body sent.
    public var bodyBytesSent: Int64 = 0
    /// Bytes of response head received, informational heads and trailers included.
    public var headBytesReceived: Int64 = 0
    /// Bytes of response body received, before decoding.
    public var bodyBytesReceived: Int64 = 0
    /// Bytes of response body after decoding.
    public var decodedBytes: Int64 = 0
    /// The time spent waiting for a rate slot, `Retry-After` or a connection slot.
    public var admissionTime: Duration = .zero
    /// The time spent waiting for authorisers.
    public var authorisationTime: Duration = .zero
    /// The time spent pausing between attempts.
    public var backOffTime: Duration = .zero
    /// The time spent on names and connections.
    public var connectTime: Duration = .zero
    /// The time spent on TLS handshakes.
    public var tlsTime: Duration = .zero
    /// The time from the start of the last attempt to the first byte of its response.
    public var firstByteTime: Duration?
    /// The time from `perform` to the outcome.
    public var totalTime: Duration = .zero
    /// Whether the last attempt used a connection that was open already.
    public var reusedConnection = false
    /// The numeric address of the last attempt's peer.
    public var remoteAddress: String?
    /// The protocol of the last attempt: "1.0", "1.1" or "2".
    public var httpVersion: String?

    /// Makes empty metrics.
    public init() {}

    /// All bytes sent, saturated.
    public var bytesUploaded: Int64 { headBytesSent.addingSaturated(bodyBytesSent) }
    /// All bytes received, saturated.
    public var bytesDownloaded: Int64 { headBytesReceived.addingSaturated(bodyBytesReceived) }

    mutating func note(_ address: String) {
        guard addresses.count < 32, !addresses.contains(address) else { return }
        addresses.append(address)
    }

    mutating func add(_ report: TransportReport) {
        headBytesSent.addSaturated(report.headBytesSent)
        bodyBytesSent.addSaturated(report.bodyBytesSent)
        headBytesReceived.addSaturated(report.headBytesReceived)
        bodyBytesReceived.addSaturated(report.bodyBytesReceived)
        decodedBytes.addSaturated(report.decodedBytes)
        if let time = report.connectTime { connectTime += time }
        if let time = report.tlsTime { tlsTime += time }
        firstByteTime = report.firstByteTime
        reusedConnection = report.reusedConnection
        remoteAddress = report.remoteAddress
        httpVersion = report.httpVersion
    }
}

extension Int64 {
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    mutating func addSaturated(_ other: Int64) {
        self = addingSaturated(other)
    }
}
