// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The scheme, lower-case host and port that secrets, connections and limits belong to (RFC 6454).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// Whether the scheme is https.
    package let isSecure: Bool
    /// The host in lower case, an IPv6 address in brackets, any address in its canonical form.
    package let host: String
    /// The port; the default port of the scheme when the URL has none.
    package let port: UInt16

    package init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    package var description: String {
        (isSecure ? "https://" : "http://") + host + ":\(port)"
    }
}
