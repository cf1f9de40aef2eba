// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    // A redirect to another origin keeps these options: their values are not for one origin.
    private enum FieldsKeptAcrossOrigins: RequestOption {
        static let defaultValue: [String] = []
        static var staysWithOrigin: Bool { false }
    }

    private enum AllowsRedirectsToHTTP: RequestOption {
        static let defaultValue = false
        static var staysWithOrigin: Bool { false }
    }

    private enum AllowsBodyAcrossOrigins: RequestOption {
        static let defaultValue = false
        static var staysWithOrigin: Bool { false }
    }

    /// The names of additional header fields that a redirect to another origin keeps; default none.
    ///
    /// ```swift
    /// request.fieldsKeptAcrossOrigins = ["X-Request-Id"]
    /// ```
    /// By default a redirect to another origin keeps only generic fields: `Accept`, `Content-Type`,
    /// `User-Agent`, `Range`, `Cache-Control` and the like. A custom field may be a key, so it is
    /// dropped unless it is named here. The same applies to `traceparent`, `tracestate`,
    /// `If-None-Match` and `If-Range`, whose values were chosen for one origin. Without its `If-Range`,
    /// `Range` is dropped too.
    ///
    /// A redirect that would drop an `If-Match` is not followed: the 3xx is delivered.
    /// `Authorization`, `Cookie`, `Proxy-Authorization`, `Origin` and `Referer` are dropped even
    /// when they are named here, and so is everything that an authoriser added or changed.
    public var fieldsKeptAcrossOrigins: [String] {
        get { self[option: FieldsKeptAcrossOrigins.self] }
        set { self[option: FieldsKeptAcrossOrigins.self] = newValue }
    }

    /// Whether redirects from https to http are followed; default false.
    ///
    /// With false the load ends `.redirectRefused`. Plain http can be read and changed in transit.
    /// The redirect counts as a change of origin, so the load sends no secrets to the new URL.
    public var allowsRedirectsToHTTP: Bool {
        get { self[option: AllowsRedirectsToHTTP.self] }
        set { self[option: AllowsRedirectsToHTTP.self] = newValue }
    }

    /// Whether a redirect that keeps the method may send the body to another origin; default false.
    ///
    /// With false the 3xx is delivered. The server that redirects chooses which server receives the
    /// body, and the body may hold a password or a token.
    public var allowsBodyAcrossOrigins: Bool {
        get { self[option: AllowsBodyAcrossOrigins.self] }
        set { self[option: AllowsBodyAcrossOrigins.self] = newValue }
    }
}
