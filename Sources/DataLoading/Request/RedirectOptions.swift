// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Names of header fields that a redirect to another origin takes along; default none.
///
/// Without it only fields go along that mean the same to everybody: `Accept`, `Content-Type`,
/// `User-Agent`, `Range`, `If-None-Match`, `Cache-Control`, `traceparent` and the like. A field that
/// a service made up may be a key, and is dropped unless it is named here. `Authorization`, `Cookie`,
/// `Proxy-Authorization`, `Origin` and `Referer` are dropped even then, and so is whatever an
/// authoriser added or changed.
///
/// ```swift
/// request[option: FieldsKeptAcrossOrigins.self] = ["X-Request-Id"]
/// ```
public enum FieldsKeptAcrossOrigins: RequestOption, Sendable {
    /// None.
    public static var defaultValue: [String] { [] }
}

/// Whether redirects may lead from https to http; default false: the load ends `.redirectRefused`.
///
/// What follows can be read and changed by anybody on the way. It is a change of origin, so that
/// secrets stay behind.
public enum AllowsRedirectsToHTTP: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
}
