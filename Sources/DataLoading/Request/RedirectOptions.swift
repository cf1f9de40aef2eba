// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Names of header fields that a redirect to another origin takes along; default none.
///
/// Without it only fields go along that mean the same to everybody: `Accept`, `Content-Type`,
/// `User-Agent`, `Range`, `Cache-Control`, `traceparent` and the like. A field that a service made up
/// may be a key, and is dropped unless it is named here; so are `If-None-Match`, `tracestate`, and
/// `If-Range` together with its `Range`, whose values one origin has chosen. A redirect that would
/// lose an `If-Match` is delivered. `Authorization`, `Cookie`,
/// `Proxy-Authorization`, `Origin` and `Referer` are dropped even then, and so is whatever an
/// authoriser added or changed.
///
/// ```swift
/// request[option: FieldsKeptAcrossOrigins.self] = ["X-Request-Id"]
/// ```
public enum FieldsKeptAcrossOrigins: RequestOption, Sendable {
    /// None.
    public static var defaultValue: [String] { [] }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}

/// Whether redirects may lead from https to http; default false: the load ends `.redirectRefused`.
///
/// What follows can be read and changed by anybody on the way. It is a change of origin, so that
/// secrets stay behind.
public enum AllowsRedirectsToHTTP: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}

/// Whether a redirect that keeps the method may take the body to another origin; default false: the
/// 3xx is delivered.
///
/// The server that redirects chooses who gets the body, which may hold a password or a token.
public enum AllowsBodyAcrossOrigins: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}
