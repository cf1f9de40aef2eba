// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The names of additional header fields that a redirect to another origin keeps; default none.
///
/// ```swift
/// request[option: FieldsKeptAcrossOrigins.self] = ["X-Request-Id"]
/// ```
/// By default a redirect to another origin keeps only generic fields: `Accept`, `Content-Type`,
/// `User-Agent`, `Range`, `Cache-Control`, `traceparent` and the like. A custom field may be a key,
/// so it is dropped unless it is named here. The same applies to `If-None-Match`, `tracestate` and
/// `If-Range`, whose values one origin has chosen. Without its `If-Range`, `Range` is dropped too.
///
/// A redirect that would drop an `If-Match` is not followed: the 3xx is delivered. `Authorization`,
/// `Cookie`, `Proxy-Authorization`, `Origin` and `Referer` are dropped even when they are named
/// here, and so is everything that an authoriser added or changed.
public enum FieldsKeptAcrossOrigins: RequestOption, Sendable {
    /// No additional fields.
    public static var defaultValue: [String] { [] }
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}

/// Allows redirects from https to http; default false.
///
/// With false the load ends `.redirectRefused`. Plain http can be read and changed in transit. The
/// redirect counts as a change of origin, so the load sends no secrets to the new URL.
public enum AllowsRedirectsToHTTP: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}

/// Allows a redirect that keeps the method to send the body to another origin; default false.
///
/// With false the 3xx is delivered. The server that redirects chooses which server receives the
/// body, and the body may hold a password or a token.
public enum AllowsBodyAcrossOrigins: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: the option also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}
