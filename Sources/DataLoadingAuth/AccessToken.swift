// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// An access token and its lifetime.
public struct AccessToken: Hashable, Sendable, OpaquelyMirrored {
    /// The token itself; a byte that a header may not contain ends each load `.invalidRequest`.
    public var value: String
    /// The lifetime from receipt; nil when the token is valid until a server refuses it.
    public var lifetime: Duration?

    /// Makes a token.
    public init(_ value: String, lifetime: Duration? = nil) {
        self.value = value
        self.lifetime = lifetime
    }
}

extension AccessToken: CustomStringConvertible {
    /// The lifetime, never the value.
    public var description: String {
        "token" + (lifetime.map { " for \($0)" } ?? "")
    }
}
