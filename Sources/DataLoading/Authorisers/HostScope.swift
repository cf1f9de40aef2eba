// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The hosts that may see a secret, and whether it may travel in the clear.
struct HostScope: Sendable {
    private let hosts: Set<String>
    private let allowsPlainLoopback: Bool
    private static let loopback: Set<String> = ["127.0.0.1", "[::1]", "localhost"]

    init(_ hosts: Set<String>, allowsPlainLoopback: Bool) {
        // An IPv6 address has brackets in a URL, and need not have them here.
        self.hosts = Set(
            hosts.map { host in
                let isBare = host.contains(":") && !host.hasPrefix("[")
                return (isBare ? "[\(host)]" : host).asciiLowercased
            })
        self.allowsPlainLoopback = allowsPlainLoopback
    }

    /// Whether a request goes to one of the hosts, safely, and has no `Authorization` of its own.
    func covers(_ request: DataLoaderRequest) -> Bool {
        safeHost(of: request).map(hosts.contains) ?? false
    }

    /// Whether a request goes anywhere safely, and has no `Authorization` of its own.
    func isSafe(_ request: DataLoaderRequest) -> Bool {
        safeHost(of: request) != nil
    }

    private func safeHost(of request: DataLoaderRequest) -> String? {
        guard !request.headers.contains("Authorization"),
            let origin = try? RequestTarget(request.url).origin,
            origin.isSecure || (allowsPlainLoopback && Self.loopback.contains(origin.host))
        else { return nil }
        return origin.host
    }
}
