// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// The span of an attempt that has ended, whose kind is "client".
///
/// Names, attributes and status are those of OpenTelemetry's conventions for HTTP clients. The URL is
/// shown without its query, and with the pattern of its path where the request names one.
struct AttemptSpan: Sendable {
    private let own: TraceContext
    private let parent: TraceContext?
    private let method: HTTPMethod
    private let template: String?
    private let url: ShownURL
    /// Whether it is an authoriser's own, whose URL may be secret as a whole.
    private let isInternal: Bool
    private let status: HTTPStatus?
    private let error: String?
    private let resendCount: Int
    private let version: String?
    private let peer: String?
    private let begun: Int64
    private let nanoseconds: Int64

    /// Takes what is shown of an attempt; nil unless its trace is sampled.
    ///
    /// The URL is made a text when it is sent: while no collector answers, most spans are not.
    init?(_ attempt: AttemptRecord) {
        guard let span = attempt.span, span.isSampled else { return nil }
        own = span
        parent = attempt.parent
        method = attempt.method
        isInternal = attempt.context.isInternal
        template = isInternal ? nil : attempt.template?.cutForLabel
        url = ShownURL(attempt.url)
        status = attempt.status
        error = attempt.errorType
        resendCount = attempt.context.resendCount
        version = attempt.report.httpVersion
        peer = attempt.report.remoteAddress
        begun = attempt.date.nanosecondsSinceEpoch
        nanoseconds = attempt.ended.nanoseconds(since: attempt.begun)
    }

    /// The URL without its query, or with the pattern in place of its path.
    private func urlText(_ shown: (origin: Origin?, text: String)) -> String? {
        guard !isInternal else { return nil }
        let text = template.flatMap { template in shown.origin.map { $0.text + template } }
        return (text ?? shown.text).cut(to: ShownURL.maxLength)
    }

    /// The address of a peer, or the path of its socket.
    private static func peer(_ address: String) -> String {
        address.hasPrefix("unix:") ? String(address.dropFirst(5)) : address
    }

    /// Adds the members of the span.
    func addMembers(to json: inout JSONWriter) {
        let method = MethodLabel(self.method)
        let shown = url.shown
        json.span(
            own, inside: parent, method.spanName(template), .client, from: begun,
            nanoseconds: nanoseconds)
        json.key("attributes")
        json.array { json in
            json.attribute("http.request.method", method.rawValue)
            if method == .other {
                json.attribute("http.request.method_original", self.method.rawValue.cutForLabel)
            }
            json.attribute("server.address", shown.origin?.addressText)
            json.attribute("server.port", shown.origin.map { Int64($0.port) })
            json.attribute("url.full", urlText(shown))
            json.attribute("url.template", template)
            json.attribute("http.response.status_code", status.map { Int64($0.rawValue) })
            json.attribute("error.type", error)
            json.attribute(
                "http.request.resend_count", resendCount > 0 ? Int64(resendCount) : nil)
            json.attribute("network.protocol.version", version)
            json.attribute("network.peer.address", peer.map(Self.peer))
        }
        json.status(isError: error != nil)
    }
}

extension MethodLabel {
    /// The name of the span of a request; never a path, of which each would be a name of its own.
    func spanName(_ template: String?) -> String {
        let word = self == .other ? "HTTP" : rawValue
        return template.map { "\(word) \($0)" } ?? word
    }
}

extension Origin {
    /// The host without the brackets of an IPv6 address.
    fileprivate var addressText: String { String(host.drop { $0 == "[" }.prefix { $0 != "]" }) }
}

extension String {
    /// The text with at most so many characters, as Unicode counts them.
    fileprivate func cut(to count: Int) -> String {
        utf8.count <= count ? self : String(unicodeScalars.prefix(count))
    }
}
