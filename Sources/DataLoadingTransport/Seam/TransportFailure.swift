// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A failed attempt: its error, and the amount of its request that was sent.
///
/// The amount decides whether the load may send the request again.
public struct TransportFailure: Error, Sendable {
    /// The failure as the load's error.
    public var error: DataLoaderError
    /// The amount of the request that was sent.
    public var sent: SentState
    /// The bytes and times of the attempt before the failure.
    public var report: TransportReport
    /// Whether a transport that wraps another held the attempt back, so that its time says nothing
    /// about the server.
    package var wasHeldBack = false

    /// Makes a failure.
    public init(
        _ error: DataLoaderError, sent: SentState, report: TransportReport = TransportReport()
    ) {
        self.error = error
        self.sent = sent
        self.report = report
    }
}

/// The amount of a request that was sent before its attempt failed.
public enum SentState: Hashable, Sendable {
    /// No byte of the request can have reached a server, or the server reported that it did not
    /// process the request.
    case nothingWritten
    /// Bytes of the request were written, and no final head arrived: the server may have processed
    /// it.
    case written
    /// A final head arrived.
    case headReceived
}

extension DataLoaderError {
    /// A stream was reset with HTTP_1_1_REQUIRED (RFC 9113 section 7).
    package static let http11Required = DataLoaderError.http2(reason: "HTTP/1.1 required")
}

extension TransportFailure: CustomStringConvertible {
    /// The error, and the amount of the request that was sent.
    public var description: String { "\(error), \(sent)" }
}

extension SentState: CustomStringConvertible {
    /// The amount in words.
    public var description: String {
        switch self {
        case .nothingWritten: "nothing sent"
        case .written: "sent without a response"
        case .headReceived: "with a response head"
        }
    }
}
