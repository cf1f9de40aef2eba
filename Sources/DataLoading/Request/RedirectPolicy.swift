// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What becomes of a 301, 302, 303, 307 or 308 with a `Location`.
///
/// Whatever the policy says, at most 10 redirects are followed, a cycle ends the load, only http and
/// https are followed, https leads to http only with `AllowsRedirectsToHTTP`, and user information in
/// `Location` is refused. To another origin no header field goes along that could be a secret: see
/// `FieldsKeptAcrossOrigins`. A 3xx that would take the body to another origin is delivered, unless
/// the request has `AllowsBodyAcrossOrigins`.
///
/// `Location` is resolved by RFC 3986 and requested byte by byte as it resolves. One that means no
/// URL, or that has a byte which may not go on the wire, is not followed: the 3xx is delivered.
public enum RedirectPolicy: Sendable {
    /// Follow it.
    case follow
    /// Deliver the 3xx as the response.
    case doNotFollow
    /// Ask for each one; false delivers the 3xx as the response.
    ///
    /// Called on a queue of the load's factory. While it blocks, other loads of the factory may wait for
    /// it; the load's deadline goes on.
    case ask(@Sendable (Redirect) -> Bool)
}

/// One redirect that a server asks for.
public struct Redirect: Sendable {
    /// The status: 301, 302, 303, 307 or 308.
    public let status: HTTPStatus
    /// The URL that answered.
    public let from: URL
    /// Where it points, resolved.
    public let to: URL
    /// The method that the next request will have.
    public let method: HTTPMethod
    /// How many redirects were followed before this one.
    public let count: Int
}

extension Redirect: CustomStringConvertible {
    /// The status and both URLs without their queries, which may hold secrets.
    public var description: String {
        "\(status.rawValue) \(from.redactedText) → \(method.rawValue) \(to.redactedText)"
    }
}
