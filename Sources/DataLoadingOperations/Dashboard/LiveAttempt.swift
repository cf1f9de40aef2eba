// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What the dashboard keeps of an attempt that ended.
struct LiveAttempt: Sendable {
    let begun: Instant
    let ended: Instant
    let isInternal: Bool
    private let report: Report
    private let status: HTTPStatus?
    /// The name of its error, which is one of the library's constants.
    private let error: String?
    private let cause: AttemptContext.Cause?

    /// The part of a transport's report that is shown; the rest would only take memory.
    private struct Report: Sendable {
        let connect: Duration?
        let tls: Duration?
        let firstByte: Duration?
        let isReused: Bool
        let address: String?
        let version: VersionLabel?
    }

    init(_ attempt: AttemptRecord) {
        begun = attempt.begun
        ended = attempt.ended
        isInternal = attempt.context.isInternal
        let report = attempt.report
        self.report = Report(
            connect: report.connectTime, tls: report.tlsTime, firstByte: report.firstByteTime,
            isReused: report.reusedConnection,
            address: report.remoteAddress?.shown(maxBytes: 64),
            version: VersionLabel(reported: report.httpVersion))
        status = attempt.status
        error = attempt.error?.name
        cause = attempt.context.cause
    }

    /// Adds its members to the object that is open; times are in seconds from the load's start.
    func addMembers(to json: inout JSONWriter, since start: Instant) {
        json.member("start", seconds: max(.zero, begun - start))
        json.member("seconds", seconds: ended - begun)
        json.member("connect", seconds: report.connect)
        json.member("tls", seconds: report.tls)
        json.member("firstByte", seconds: report.firstByte)
        json.member("status", status?.rawValue)
        json.member("error", error)
        json.member("address", report.address)
        json.member("cause", cause.map { "\($0)" })
        json.member("reused", report.isReused)
        json.member("version", report.version?.rawValue)
    }
}
