// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The method of a request.
///
/// Any token of RFC 9110 section 5.6.2 except CONNECT is allowed. The load checks it when the
/// request is performed. Methods are case-sensitive; a raw value is sent unchanged.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
    /// The method, as it is sent in the request line.
    public var rawValue: String

    /// Makes a method from its spelling.
    ///
    /// A load whose method is not a token, or is CONNECT, ends `.invalidRequest`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// GET.
    public static let get = HTTPMethod(rawValue: "GET")
    /// HEAD.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// POST.
    public static let post = HTTPMethod(rawValue: "POST")
    /// PUT.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// PATCH.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// DELETE.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// OPTIONS.
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// TRACE.
    package static let trace = HTTPMethod(rawValue: "TRACE")

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110 section
    /// 9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }
}
