// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// An attempt that ended: what was sent, why, where it went and how long its phases took.
struct AttemptRecord: Sendable {
    /// The load that made it, and why.
    let context: AttemptContext
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

/// Is told of every attempt that ended.
///
/// It is called on the transport's thread, before the load learns of the end, and must not block.
protocol AttemptListener: Sendable {
    func attemptEnded(_ attempt: AttemptRecord)
}
