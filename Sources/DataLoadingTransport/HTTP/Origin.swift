// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The scheme, lower-case host and port that secrets, connections and limits belong to (RFC 6454).
///
/// A class, because a load hands its origin on at nearly every step: a reference is a fifth of the
/// size, and most comparisons are of a value with itself.
package final class Origin: Hashable, Sendable, CustomStringConvertible {
    /// Whether the scheme is https.
    package let isSecure: Bool
    /// The host in lower case, an IPv6 address in brackets, any address in its canonical form.
    package let host: String
    /// The port; the default port of the scheme when the URL has none.
    package let port: UInt16
    /// The hash of the three: a load looks its origin up in several tables, and hashing the host
    /// costs more than all else there.
    private let code: Int

    package init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        var hasher = Hasher()
        hasher.combine(isSecure)
        hasher.combine(host)
        hasher.combine(port)
        code = hasher.finalize()
    }

    package static func == (left: Origin, right: Origin) -> Bool {
        left === right
            || left.code == right.code && left.host == right.host && left.port == right.port
                && left.isSecure == right.isSecure
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }

    /// The origin as in a URL, without the default port of its scheme.
    package var text: String {
        port == (isSecure ? 443 : 80)
            ? (isSecure ? "https://" : "http://") + host : description
    }

    package var description: String {
        (isSecure ? "https://" : "http://") + host + ":\(port)"
    }
}
