// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// How an attempt failed, and how far its request had got: all that decides whether to try again.
public struct TransportFailure: Error, Sendable {
    /// What the failure was, as the load's error.
    public var error: DataLoaderError
    /// How far the request had got.
    public var sent: SentState
    /// What was sent and received until then.
    public var report: TransportReport

    /// Makes a failure.
    public init(
        _ error: DataLoaderError, sent: SentState, report: TransportReport = TransportReport()
    ) {
        self.error = error
        self.sent = sent
        self.report = report
    }
}

/// How far a request had got when its attempt failed.
public enum SentState: Hashable, Sendable {
    /// Not a byte of it can have reached a server, or the server says that it did nothing with it.
    case nothingWritten
    /// Some of it was written, and no head came back: the server may have processed it.
    case written
    /// A final head came back.
    case headReceived
}

extension DataLoaderError {
    /// A stream was reset with HTTP_1_1_REQUIRED (RFC 9113 section 7).
    static let http11Required = DataLoaderError.http2(reason: "HTTP/1.1 required")
}
