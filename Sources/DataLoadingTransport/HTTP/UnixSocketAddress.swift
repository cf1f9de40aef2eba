// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A Unix-domain socket as the address of a host: `unix:` and an absolute path.
package struct UnixSocketAddress: Hashable, Sendable {
    /// The maximum number of bytes of a path: `sun_path` without its final zero byte.
    #if canImport(Darwin)
        package static let maxPathLength = 103
    #else
        package static let maxPathLength = 107
    #endif

    /// The absolute path, exactly as it was given.
    package let path: String

    /// Parses an address; nil when it is malformed, or no address of this kind.
    package init?(_ address: String) {
        guard Self.isMeant(by: address) else { return nil }
        let path = address.dropFirst("unix:".count)
        guard path.utf8.count > 1, path.utf8.count <= Self.maxPathLength, !path.utf8.contains(0)
        else { return nil }
        self.path = String(path)
    }

    /// Whether a text begins like an address of this kind; `unix:8443` is a port of a host.
    package static func isMeant(by address: String) -> Bool {
        address.utf8.starts(with: "unix:/".utf8)
    }
}
