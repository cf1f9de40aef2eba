// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingCache
import DataLoadingSupport
import DataLoadingTransport

/// The attempts, bytes and times of a load, over all its attempts.
///
/// Durations add up over attempts, which ``attemptMetrics`` has one by one. Byte counts are those
/// that the transport sent and received. A load that went through interceptors has the sums over
/// the loads inside, whose numbers are not reported.
public struct LoadMetrics: Hashable, Sendable {
    /// The number of the load; loads of a process are numbered from 1 as they are performed.
    ///
    /// The load's `CancellationToken`, response, error and line in a log have the same number. It
    /// is 0 for a load that never started.
    public var load: Int64 = 0
    /// Where the response came from; `.network` where there is none.
    public var source = ResponseSource.network
    /// What the cache did about the load's last request; nil where no cache was asked.
    public internal(set) var cacheStatus: CacheStatus?
    /// The number of attempts: retries, redirects and re-authorised sends count.
    ///
    /// Attempts that failed to connect count too. Further addresses of the same attempt do not.
    public var attempts = 0
    /// The number of attempts that were retries.
    public var retries = 0
    /// The number of attempts that replaced one on a stale connection, or one that the server did
    /// not process.
    ///
    /// A load has at most one such attempt, and it is no retry. A connection is stale when it was
    /// kept or shared and ended without a byte of response. The load then repeats the request only
    /// if it may be sent twice. When HTTP/2 reports that a request was not processed, the load may
    /// send it again whatever its method.
    public var replacedConnections = 0
    /// The number of redirects that the load followed.
    public var redirects = 0
    /// The configured addresses that the load tried, each once, at most 32; empty when only DNS was
    /// used.
    public var addresses: [String] {
        get { firstAddress.isEmpty ? otherAddresses : [firstAddress] + otherAddresses }
        set {
            firstAddress = newValue.first ?? ""
            otherAddresses = Array(newValue.dropFirst(firstAddress.isEmpty ? 0 : 1))
        }
    }
    // Not in one array, because most loads that try one address try no other.
    private var firstAddress = ""
    private var otherAddresses: [String] = []
    /// The bytes of request heads sent.
    public var headBytesSent: Int64 = 0
    /// The bytes of request bodies sent.
    public var bodyBytesSent: Int64 = 0
    /// The bytes of response heads received, informational heads and trailers included.
    public var headBytesReceived: Int64 = 0
    /// The bytes of response bodies received, before decoding.
    public var bodyBytesReceived: Int64 = 0
    /// The bytes of response bodies after decoding.
    public var decodedBytes: Int64 = 0
    /// The time spent waiting for a rate slot, `Retry-After` or a connection slot.
    public var admissionTime: Duration = .zero
    /// The time spent waiting for authorisers.
    public var authorisationTime: Duration = .zero
    /// The time spent pausing between attempts.
    public var backOffTime: Duration = .zero
    /// The time spent on name resolution and connecting.
    public var connectTime: Duration = .zero
    /// The time spent on TLS handshakes.
    public var tlsTime: Duration = .zero
    /// The time from the start of the last attempt to the first byte of its response.
    public var firstByteTime: Duration?
    /// The time from `perform` to the outcome.
    public var totalTime: Duration = .zero
    /// Whether the last attempt used an existing connection.
    public var reusedConnection = false
    /// The numeric address of the peer of the last attempt, or "unix:" and the path of its socket.
    public var remoteAddress: String?
    /// The protocol of the last attempt: "1.0", "1.1" or "2".
    public var httpVersion: String?

    /// The attempts that have ended.
    var ended = AttemptList.none
    /// Whether an authoriser makes the load for itself; set in what observers see.
    package var isInternal = false

    /// Makes empty metrics.
    public init() {}

    /// All bytes sent; `Int64.max` on overflow.
    public var bytesUploaded: Int64 { headBytesSent.addingSaturated(bodyBytesSent) }
    /// All bytes received; `Int64.max` on overflow.
    public var bytesDownloaded: Int64 { headBytesReceived.addingSaturated(bodyBytesReceived) }

    mutating func note(_ address: String) {
        guard firstAddress != address, !otherAddresses.contains(address) else { return }
        if firstAddress.isEmpty {
            firstAddress = address
        } else if otherAddresses.count < 31 {
            otherAddresses.append(address)
        }
    }

    /// Adds those of a load inside.
    mutating func add(_ inside: LoadMetrics) {
        guard inside.load != 0 else { return }
        list(inside.attemptMetrics)
        attempts += inside.attempts
        retries += inside.retries
        replacedConnections += inside.replacedConnections
        redirects += inside.redirects
        for address in inside.addresses { note(address) }
        headBytesSent.addSaturated(inside.headBytesSent)
        bodyBytesSent.addSaturated(inside.bodyBytesSent)
        headBytesReceived.addSaturated(inside.headBytesReceived)
        bodyBytesReceived.addSaturated(inside.bodyBytesReceived)
        decodedBytes.addSaturated(inside.decodedBytes)
        admissionTime += inside.admissionTime
        authorisationTime += inside.authorisationTime
        backOffTime += inside.backOffTime
        connectTime += inside.connectTime
        tlsTime += inside.tlsTime
        firstByteTime = inside.firstByteTime
        reusedConnection = inside.reusedConnection
        remoteAddress = inside.remoteAddress
        httpVersion = inside.httpVersion
    }

    mutating func add(_ report: TransportReport, countsConnecting: Bool = true) {
        headBytesSent.addSaturated(report.headBytesSent)
        bodyBytesSent.addSaturated(report.bodyBytesSent)
        headBytesReceived.addSaturated(report.headBytesReceived)
        bodyBytesReceived.addSaturated(report.bodyBytesReceived)
        decodedBytes.addSaturated(report.decodedBytes)
        if countsConnecting, let time = report.connectTime { connectTime += time }
        if let time = report.tlsTime { tlsTime += time }
        firstByteTime = report.firstByteTime
        reusedConnection = report.reusedConnection
        remoteAddress = report.remoteAddress
        httpVersion = report.httpVersion
    }
}
