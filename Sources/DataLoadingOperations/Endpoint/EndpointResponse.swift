// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A response of the endpoint; the fields that protect a browser are in each.
struct EndpointResponse: Sendable {
    let status: EndpointStatus
    let contentType: String
    let body: [UInt8]
    /// What the browser may do with the body (CSP).
    var contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'"

    init(_ status: EndpointStatus, contentType: String, _ body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A sentence for a person.
    init(_ status: EndpointStatus, text: String) {
        self.init(status, contentType: "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }

    /// A status without more to say.
    init(_ status: EndpointStatus) {
        self.init(status, text: status.reason)
    }

    static func json(_ body: [UInt8]) -> EndpointResponse {
        EndpointResponse(.ok, contentType: "application/json", body)
    }

    /// Its bytes, sent at a date; a response to HEAD has the length of the body and no body.
    func bytes(at date: Date, toHead isHead: Bool, keepsAlive: Bool) -> [UInt8] {
        var lines = head(at: date)
        lines.append("Content-Length: \(body.count)")
        lines.append("Connection: \(keepsAlive ? "keep-alive" : "close")")
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (isHead ? [] : body)
    }

    /// The head of a response whose body has no end of its own.
    func streamHead(at date: Date) -> [UInt8] {
        Array(
            ((head(at: date) + ["Connection: close"]).joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func head(at date: Date) -> [String] {
        var lines = [
            "HTTP/1.1 \(status.rawValue) \(status.reason)",
            "Date: \(HTTPDate.text(secondsSince1970: Int64(saturating: date)))",
            "Content-Type: \(contentType)",
            "Cache-Control: no-store",
            "Content-Security-Policy: \(contentSecurityPolicy)",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cross-Origin-Opener-Policy: same-origin",
            "Cross-Origin-Resource-Policy: same-origin",
        ]
        switch status {
        case .unauthorised: lines.append("WWW-Authenticate: Bearer realm=\"operations\"")
        case .methodNotAllowed: lines.append("Allow: GET, HEAD")
        default: break
        }
        return lines
    }
}

extension Int64 {
    /// The whole seconds from 1970 to a date.
    fileprivate init(saturating date: Date) {
        self =
            Duration.saturating(seconds: date.timeIntervalSince1970).wholeNanoseconds
            / 1_000_000_000
    }
}
