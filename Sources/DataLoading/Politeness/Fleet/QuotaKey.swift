// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The scope of a rate and of a `Retry-After`: an origin, or its part below one path component.
public struct QuotaKey: Hashable, Sendable {
    /// The scheme in lower case: "http" or "https".
    public var scheme: String
    /// The host in lower case, an IPv6 address in brackets.
    public var host: String
    /// The port; the default port of the scheme when a URL has none.
    public var port: UInt16
    /// The first path component as in the URL, without slashes; nil for the whole origin.
    public var pathComponent: String?

    /// Makes a key.
    public init(scheme: String, host: String, port: UInt16, pathComponent: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.pathComponent = pathComponent
    }

    init(_ key: RuleKey) {
        self.init(
            scheme: key.origin.isSecure ? "https" : "http", host: key.origin.host,
            port: key.origin.port, pathComponent: key.pathComponent.map(String.init))
    }
}

extension RuleKey {
    /// Makes the key of rates and gates that another daemon names; nil for another scheme.
    init?(_ key: QuotaKey) {
        guard key.scheme == "https" || key.scheme == "http" else { return nil }
        self.init(
            origin: Origin(isSecure: key.scheme == "https", host: key.host, port: key.port),
            pathComponent: key.pathComponent.map { Substring($0) })
    }
}
