// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

/// Decides whether a load follows a 301, 302, 303, 307 or 308 with a `Location`.
///
/// These rules apply before a redirect is followed or the closure of `ask` is called:
///
/// - A load follows at most 10 redirects. One more, or a cycle, ends it `.redirectLimit`.
/// - Only http and https URLs are followed, and https to http only with `allowsRedirectsToHTTP`.
/// - User information in `Location` ends the load `.redirectRefused`.
/// - A redirect to another origin keeps no header field that could be a secret; see
///   `fieldsKeptAcrossOrigins`.
/// - A redirect that would send the body to another origin is not followed, and its 3xx is
///   delivered, unless the request sets `allowsBodyAcrossOrigins`.
///
/// The load resolves `Location` by RFC 3986 and requests the result byte by byte. When the result
/// is no valid URL, or has a byte that is not allowed on the wire, the 3xx is delivered.
public enum RedirectPolicy: Sendable {
    /// Follows the redirect.
    case follow
    /// Delivers the 3xx as the response.
    case doNotFollow
    /// Asks the closure about each redirect; false delivers the 3xx as the response.
    ///
    /// The closure is called on a queue of the load's factory. While it blocks, other loads of the
    /// factory may wait for it. The load's deadline keeps running.
    case ask(@Sendable (Redirect) -> Bool)
}

/// A redirect that a server asks for.
public struct Redirect: Sendable, OpaquelyMirrored {
    /// The status: 301, 302, 303, 307 or 308.
    public let status: HTTPStatus
    /// The URL that answered with the redirect.
    public let from: URL
    /// The resolved target of the redirect.
    public let to: URL
    /// The method of the next request.
    public let method: HTTPMethod
    /// The number of redirects that the load followed before this one.
    public let count: Int
}

extension Redirect: CustomStringConvertible {
    /// The status and both URLs without their queries, which may hold secrets.
    public var description: String {
        "\(status.rawValue) \(from.redactedText) → \(method.rawValue) \(to.redactedText)"
    }
}
