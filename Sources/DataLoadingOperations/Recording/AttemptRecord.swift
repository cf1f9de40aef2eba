// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// An attempt that ended: what was sent, why, where it went and how long its phases took.
struct AttemptRecord: Sendable {
    /// The load that made it, and why.
    let context: AttemptContext
    /// The number of the load that observers are told of; nil without one, or where it is not known.
    let reportedLoad: Int64?
    let method: HTTPMethod
    /// The URL as it was sent; it may hold secrets, and is shown as `redactedText` only.
    let url: URL
    /// The pattern of its path, where the request names one.
    let template: String?
    let host: HostLabel
    /// The span that the attempt is inside of, its load's or that of the request's trace; nil
    /// without a trace, and where the load begins one.
    let parent: TraceContext?
    /// The attempt's own span, as its server was told unless a redirect led to it; nil without a
    /// trace.
    let span: TraceContext?
    /// When it began, by the monotonic clock.
    let begun: Instant
    let ended: Instant
    /// When it began, by the wall clock.
    let date: Date
    let status: HTTPStatus?
    /// Why it failed; nil when it ended with a whole response.
    let error: DataLoaderError?
    let report: TransportReport
}

extension AttemptRecord {
    /// Why the attempt is an error; nil for a success, and where the program cancelled it.
    var errorType: String? {
        if let error { return error.kind == .cancelled ? nil : error.name }
        guard let status, status.rawValue >= 400 else { return nil }
        return String(status.rawValue)
    }
}

extension TransportReport {
    /// Whether any byte was sent or received.
    var bytesMoved: Bool {
        headBytesSent > 0 || bodyBytesSent > 0 || headBytesReceived > 0 || bodyBytesReceived > 0
    }
}

/// Is told of every attempt that ended.
///
/// It is called on the transport's thread, before the load learns of the end, and must not block.
protocol AttemptListener: Sendable {
    func attemptEnded(_ attempt: AttemptRecord)
}
