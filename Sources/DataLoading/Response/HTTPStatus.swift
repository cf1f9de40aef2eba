// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A response's status code; any code is kept as the server sent it.
public struct HTTPStatus: RawRepresentable, Hashable, Sendable {
    /// The number, 0 when there was no response.
    public var rawValue: Int

    /// Makes a status from its number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No response: the load ended before a head arrived.
    public static let none = HTTPStatus(rawValue: 0)
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
    /// 403 Forbidden.
    public static let forbidden = HTTPStatus(rawValue: 403)
    /// 404 Not Found.
    public static let notFound = HTTPStatus(rawValue: 404)
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

    /// Whether the load is delivered as a success: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(rawValue) }
}
