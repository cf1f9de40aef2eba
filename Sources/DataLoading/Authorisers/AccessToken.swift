// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A token, and how long it lasts.
public struct AccessToken: Hashable, Sendable {
    /// The token itself; a byte that a header may not have ends each load `.invalidRequest`.
    public var value: String
    /// How long it lasts from its receipt; nil for until it is refused.
    public var lifetime: Duration?

    /// Makes a token.
    public init(_ value: String, lifetime: Duration? = nil) {
        self.value = value
        self.lifetime = lifetime
    }
}

extension AccessToken: CustomStringConvertible {
    /// Its lifetime, never its value.
    public var description: String {
        "token" + (lifetime.map { " for \($0)" } ?? "")
    }
}
