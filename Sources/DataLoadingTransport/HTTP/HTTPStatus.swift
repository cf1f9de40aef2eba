// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The status code of a response, as the server sent it.
///
/// ```swift
/// switch response.statusCode {
/// case 200: print("there it is")
/// case .notFound: print("there is none")
/// case nil: print("no answer:", response.error?.kind ?? "?")
/// case let status?: print("status", status)
/// }
/// ```
/// There are constants for the statuses on which the library acts, and for 200 and 404. An integer
/// literal is a status too.
public struct HTTPStatus: RawRepresentable, Hashable, Sendable {
    /// The number.
    public var rawValue: Int

    /// Makes a status from its number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// 200 OK.
    public static let ok = HTTPStatus(rawValue: 200)
    /// 204 No Content.
    public static let noContent = HTTPStatus(rawValue: 204)
    /// 206 Partial Content.
    public static let partialContent = HTTPStatus(rawValue: 206)
    /// 304 Not Modified.
    public static let notModified = HTTPStatus(rawValue: 304)
    /// 401 Unauthorized.
    public static let unauthorised = HTTPStatus(rawValue: 401)
    /// 404 Not Found.
    public static let notFound = HTTPStatus(rawValue: 404)
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired = HTTPStatus(rawValue: 407)
    /// 408 Request Timeout.
    public static let requestTimeout = HTTPStatus(rawValue: 408)
    /// 425 Too Early (RFC 8470).
    public static let tooEarly = HTTPStatus(rawValue: 425)
    /// 429 Too Many Requests (RFC 6585).
    public static let tooManyRequests = HTTPStatus(rawValue: 429)
    /// 500 Internal Server Error.
    public static let internalServerError = HTTPStatus(rawValue: 500)
    /// 502 Bad Gateway.
    public static let badGateway = HTTPStatus(rawValue: 502)
    /// 503 Service Unavailable.
    public static let serviceUnavailable = HTTPStatus(rawValue: 503)
    /// 504 Gateway Timeout.
    public static let gatewayTimeout = HTTPStatus(rawValue: 504)

    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(rawValue) }
}

extension HTTPStatus: ExpressibleByIntegerLiteral {
    /// Makes a status from its number, as in `response.statusCode == 404`.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }
}

extension HTTPStatus: CustomStringConvertible {
    /// The number.
    public var description: String { String(rawValue) }
}
