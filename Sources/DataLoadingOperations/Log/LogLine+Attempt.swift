// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport

extension LogLine {
    /// Writes the rest of the line of an attempt that ended.
    static func writeRest(
        _ attempt: AttemptRecord, at time: LogTime, _ format: AccessLog.Format,
        to bytes: inout FixedBytes
    ) {
        let (context, report) = (attempt.context, attempt.report)
        writeRest(format, time, to: &bytes) { line in
            // The maximum lengths add up to less than that of a line, with all keys and numbers.
            line.add("kind", "attempt", maxBytes: 16)
            line.add("source", context.sourceIdentifier, maxBytes: 256)
            line.add("load", attempt.reportedLoad)
            line.add("method", attempt.method.rawValue, maxBytes: 64)
            // The URL of an authoriser's own load may be secret as a whole.
            if !context.isInternal {
                if let template = attempt.template {
                    line.add("url.template", template, maxBytes: 1_024)
                    let target = try? RequestTarget(attempt.url)
                    line.add("server", target?.origin.text, maxBytes: 512)
                } else {
                    line.add("url", attempt.url.redactedText, maxBytes: 2_048)
                }
            }
            line.add("status", attempt.status.map { Int64($0.rawValue) })
            line.add("outcome", attempt.outcome.rawValue, maxBytes: 64)
            line.add("error.type", attempt.errorType, maxBytes: 64)
            line.add("resend", Int64(context.resendCount))
            line.add("cause", context.cause?.word, maxBytes: 64)
            let received = report.headBytesReceived.addingSaturated(report.bodyBytesReceived)
            line.add("bytes.down", received)
            line.add("bytes.up", report.headBytesSent.addingSaturated(report.bodyBytesSent))
            line.add("seconds", attempt.ended - attempt.begun)
            line.add("connect", report.connectTime)
            line.add("tls", report.tlsTime)
            line.add("first.byte", report.firstByteTime)
            line.add("version", report.httpVersion, maxBytes: 16)
            line.add("peer", report.remoteAddress, maxBytes: 256)
            line.add("reused", report.reusedConnection)
            line.add("trace_id", attempt.span?.traceID, maxBytes: 32)
            line.add("span_id", attempt.span?.spanID, maxBytes: 16)
        }
    }
}

extension AttemptRecord {
    /// How the attempt ended, in the words of the line of a load.
    fileprivate var outcome: OutcomeWord {
        if error?.kind == .cancelled { return .cancelled }
        return errorType == nil ? .success : .failure
    }
}

extension AttemptContext.Cause {
    /// The cause as one word, as the names of errors are.
    fileprivate var word: String {
        switch self {
        case .retry: "retry"
        case .resumption: "resumption"
        case .redirect: "redirect"
        case .reauthorisation: "reauthorisation"
        case .nextAddress: "next_address"
        case .replacement: "replacement"
        case .wholeResponse: "whole_response"
        }
    }
}
