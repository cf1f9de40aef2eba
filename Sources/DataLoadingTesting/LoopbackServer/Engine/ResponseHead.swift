// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A response's head as bytes.
struct ResponseHead {
    let status: Int
    let reason: String?
    let headers: HTTPHeaders

    /// Whether a body may follow such a head (RFC 9110 section 6.4.1).
    static func mayHaveBody(status: Int) -> Bool {
        status >= 200 && status != 204 && status != 304
    }

    var closesConnection: Bool {
        (headers["Connection"] ?? "").hasOption("close")
    }

    var bytes: [UInt8] {
        var text = "HTTP/1.1 \(status) \(reason ?? Self.usualReason(of: status))\r\n"
        text += headers.lines + "\r\n"
        return [UInt8](text.utf8)
    }

    private static func usualReason(of status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 413: "Content Too Large"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status"
        }
    }
}

extension HTTPHeaders {
    /// The field lines, unchecked.
    var lines: String {
        fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }
}
