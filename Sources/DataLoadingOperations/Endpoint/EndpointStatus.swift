// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The statuses of the endpoint's responses.
enum EndpointStatus: Int {
    case ok = 200
    case badRequest = 400
    case unauthorised = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case contentTooLarge = 413
    case tooManyRequests = 429
    case headTooLarge = 431
    case unavailable = 503
    case versionNotSupported = 505

    /// The words of RFC 9110 and RFC 6585.
    var reason: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorised: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .tooManyRequests: "Too Many Requests"
        case .headTooLarge: "Request Header Fields Too Large"
        case .unavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}
