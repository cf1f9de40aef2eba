// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The hosts that may see a secret, and whether it may travel in the clear.
struct HostScope: Sendable {
    private let hosts: Set<String>
    private let allowsPlainLoopback: Bool
    private let sparesOwn: Bool
    private static let loopback: Set<String> = ["127.0.0.1", "[::1]", "localhost"]

    /// Makes a scope; `sparesOwn` leaves requests alone that have an `Authorization` already.
    init(_ hosts: Set<String>, allowsPlainLoopback: Bool, sparesOwn: Bool = true) {
        self.sparesOwn = sparesOwn
        // An IPv6 address has brackets in a URL, and need not have them here.
        self.hosts = Set(
            hosts.map { host in
                let isBare = !host.hasPrefix("[") && host.utf8.count { $0 == UInt8(ascii: ":") } > 1
                return (isBare ? "[\(host)]" : host).asciiLowercased
            })
        self.allowsPlainLoopback = allowsPlainLoopback
    }

    /// Whether a request goes to one of the hosts, safely, and is not to be left alone.
    func covers(_ request: DataLoaderRequest) -> Bool {
        safeOrigin(of: request).map {
            hosts.contains($0.host) || hosts.contains("\($0.host):\($0.port)")
        } ?? false
    }

    /// Whether a request goes anywhere safely, and is not to be left alone.
    func isSafe(_ request: DataLoaderRequest) -> Bool {
        safeOrigin(of: request) != nil
    }

    private func safeOrigin(of request: DataLoaderRequest) -> Origin? {
        guard !(sparesOwn && request.headers.contains("Authorization")),
            let origin = try? RequestTarget(request.url).origin,
            origin.isSecure || (allowsPlainLoopback && Self.loopback.contains(origin.host))
        else { return nil }
        return origin
    }
}
