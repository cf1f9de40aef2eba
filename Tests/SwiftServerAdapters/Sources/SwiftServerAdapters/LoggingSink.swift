// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Logging

/// Logs each load that ended to swift-log: a failure as a warning, all else as information.
///
/// ```swift
/// let sink = LoggingSink(Logger(label: "loads"))  // keep it: a service holds observers weakly
/// service.addConsumptionObserver(sink, on: DispatchQueue(label: "loads"))
/// ```
/// An entry has no query, header value, body or token. A handler that writes to a slow disk delays
/// no load: past 4,096 loads that wait for the queue, the oldest have no entry.
final class LoggingSink: ConsumptionObserver {
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let (request, metrics) = (response.request, response.metrics)
        var metadata: Logger.Metadata = [
            "load": "\(metrics.load)",
            "http.request.method": "\(Self.printable(request.method.rawValue))",
            "attempts": "\(metrics.attempts)",
            "retries": "\(metrics.retries)",
            "redirects": "\(metrics.redirects)",
            "bytes.down": "\(bytesDownloaded)",
            "bytes.up": "\(bytesUploaded)",
            "seconds": "\(metrics.totalTime / .seconds(1))",
            "seconds.waiting": "\((metrics.admissionTime + metrics.backOffTime) / .seconds(1))",
        ]
        // A program may set a template because the path itself has a secret.
        if let template = request[option: URLTemplate.self] {
            metadata["url.template"] = "\(Self.printable(template))"
        } else {
            metadata["url.full"] = "\(request.url.redactedText)"
        }
        metadata["source"] = request.sourceIdentifier.map { "\(Self.printable($0))" }
        metadata["http.response.status_code"] = response.statusCode.map { "\($0.rawValue)" }
        switch response.error {
        case nil: logger.info("Load succeeded", metadata: metadata)
        // OpenTelemetry: an intended cancellation is no error.
        case .cancelled?: logger.info("Load cancelled", metadata: metadata)
        case let error?:
            metadata["error.type"] = "\(error.name)"
            logger.warning("Load failed", metadata: metadata)
        }
    }

    /// Replaces what could begin a line or control a terminal: a handler may write text as it is.
    private static func printable(_ word: String) -> String {
        let scalars = word.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "?"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
