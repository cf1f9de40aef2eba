// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The values of one load that a log may show; their keys in JSON are those of operations' log, where
/// both have a value.
struct ConsumptionLine: Encodable {
    let load: Int64?
    let source: String?
    let method: String
    /// The URL without its query; nil for a load with a template.
    let url: String?
    let template: String?
    let status: Int?
    let outcome: OutcomeWord
    /// What the error of a load that failed is called: an intended cancellation is no error.
    let failure: String?
    let cache: String?
    let attempts: Int
    let resends: Int
    let retries: Int
    let replaced: Int
    let redirects: Int
    let bytesDownloaded: Int64
    let bytesUploaded: Int64
    let seconds: Double
    let slotWait: Double
    let authorisationWait: Double
    let backOffWait: Double
    /// The three together; for a line of text.
    private let wait: Double
    /// What the error is called, for a line of text.
    private let error: String?

    init(_ response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64) {
        let metrics = response.metrics
        load = response.metrics.load == 0 ? nil : response.metrics.load
        source = response.request.sourceIdentifier.map(Self.printable)
        method = Self.printable(response.request.method.rawValue)
        // A program may set a template because the path itself has a secret.
        template = response.request[option: URLTemplate.self].map(Self.printable)
        url = template == nil ? response.request.url.redactedText : nil
        status = response.statusCode?.rawValue
        error = response.error?.name
        outcome = OutcomeWord(response.error)
        failure = outcome == .failure ? error : nil
        cache = metrics.cacheStatus?.description
        attempts = metrics.attempts
        // The OpenTelemetry convention counts every resend, including redirects and 401s.
        resends = max(0, metrics.attempts - 1)
        retries = metrics.retries
        replaced = metrics.replacedConnections
        redirects = metrics.redirects
        self.bytesDownloaded = bytesDownloaded
        self.bytesUploaded = bytesUploaded
        seconds = Self.milliseconds(metrics.totalTime)
        slotWait = Self.milliseconds(metrics.admissionTime)
        authorisationWait = Self.milliseconds(metrics.authorisationTime)
        backOffWait = Self.milliseconds(metrics.backOffTime)
        wait = Self.milliseconds(
            metrics.admissionTime + metrics.authorisationTime + metrics.backOffTime)
    }

    private enum CodingKeys: String, CodingKey {
        case load
        case source
        case method
        case url
        case template = "url.template"
        case status
        case outcome
        case failure = "error.type"
        case cache
        case attempts
        case resends
        case retries
        case replaced
        case redirects
        case bytesDownloaded = "bytes.down"
        case bytesUploaded = "bytes.up"
        case seconds
        case slotWait = "wait.slot"
        case authorisationWait = "wait.auth"
        case backOffWait = "wait.backoff"
    }

    /// The line as text.
    var text: String {
        var words = [source ?? "-", method, template ?? url ?? "-"]
        words.append(status.map(String.init) ?? "-")
        // The kind of a `.status` error is the status itself.
        if let error, error != words.last { words.append(error) }
        if let load { words.append("load=\(load)") }
        if let cache { words.append("cache=(\(cache))") }
        words.append("attempts=\(attempts)")
        if redirects > 0 { words.append("redirects=\(redirects)") }
        if replaced > 0 { words.append("replaced=\(replaced)") }
        words.append("down=\(bytesDownloaded) up=\(bytesUploaded)")
        words.append("time=\(seconds)s waiting=\(wait)s")
        return words.joined(separator: " ")
    }

    /// The line as JSON.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is not finite would fail to encode, and these numbers are finite.
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the duration in seconds, rounded to a millisecond.
    private static func milliseconds(_ duration: Duration) -> Double {
        (duration.inSeconds * 1_000).rounded() / 1_000
    }

    /// Replaces characters that could start a line, control a terminal or reverse the text
    /// direction.
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
