// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTransport
import Foundation

extension LogLine {
    /// Writes the rest of the line of a load that ended.
    static func writeRest(
        _ response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64,
        trace: LoggedTrace?, at time: LogTime, _ format: AccessLog.Format,
        to bytes: inout FixedBytes
    ) {
        let (request, metrics) = (response.request, response.figures)
        let outcome = OutcomeWord(response.error)
        writeRest(format, time, to: &bytes) { line in
            // The maximum lengths add up to less than that of a line, with all keys and numbers.
            line.add("source", request.sourceIdentifier, maxBytes: 256)
            // A load that never started has no number.
            line.add("load", metrics.load == 0 ? nil : metrics.load)
            line.add("method", request.method.rawValue, maxBytes: 64)
            // The URL of an authoriser's own load may be secret as a whole.
            if !metrics.isInternal {
                if let template = request.template {
                    line.add("url.template", template, maxBytes: 2_048)
                } else {
                    line.add("url", try? request.target, maxBytes: 2_048)
                }
            }
            line.add("status", response.statusCode.map { Int64($0.rawValue) })
            line.add("outcome", outcome.rawValue, maxBytes: 64)
            // OpenTelemetry: an intended cancellation is no error.
            let error = outcome == .failure ? response.error : nil
            line.add("error.type", error?.name, maxBytes: 64)
            // Of a response that no server has just sent: where it comes from.
            if metrics.source != .network {
                line.add("response.source", metrics.source.rawValue, maxBytes: 64)
            }
            line.add("attempts", Int64(metrics.attempts))
            // OpenTelemetry counts each resend, redirects and 401s included.
            line.add("resends", Int64(max(1, metrics.attempts)) - 1)
            line.add("redirects", Int64(metrics.redirects))
            line.add("bytes.down", bytesDownloaded)
            line.add("bytes.up", bytesUploaded)
            line.add("seconds", metrics.totalTime)
            line.add("wait.slot", metrics.admissionTime)
            line.add("wait.auth", metrics.authorisationTime)
            line.add("wait.backoff", metrics.backOffTime)
            line.add("peer", response.remoteAddress, maxBytes: 256)
            line.add("reused", metrics.reusedConnection)
            line.add("trace_id", trace?.traceID, maxBytes: 32)
            line.add("span_id", trace?.spanID, maxBytes: 16)
        }
    }

    /// The line that says how many lines are missing here.
    static func dropped(_ count: Int, at date: Date, _ format: AccessLog.Format) -> [UInt8] {
        make(format, time: LogTime(date)) { line in line.add("dropped", Int64(count)) }
    }
}
