// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The properties that decide which connections an attempt may use.
///
/// An object, because an attempt looks its route up a dozen times: the attempts of a route share one
/// (`RouteTable.key`), which is hashed once and mostly compared by its identity.
final class RouteKey: Sendable {
    let host: String
    let port: UInt16
    /// The address to connect to instead of the host; nil for the host.
    let address: String?
    let proxy: Proxy?
    /// The credential with which the proxy opens tunnels.
    let proxyAuthorization: String?
    let trust: HostTrust?
    private let hash: Int

    init(
        host: String, port: UInt16, address: String?, proxy: Proxy? = nil,
        proxyAuthorization: String? = nil, trust: HostTrust?
    ) {
        self.host = host
        self.port = port
        self.address = address
        self.proxy = proxy
        self.proxyAuthorization = proxyAuthorization
        self.trust = trust
        // Trust is not hashed: equality compares it where the rest is the same.
        var hasher = Hasher()
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(address)
        hash = hasher.finalize()
    }
}

extension RouteKey: Hashable {
    static func == (left: RouteKey, right: RouteKey) -> Bool {
        left === right
            || left.hash == right.hash && left.host == right.host && left.port == right.port
                && left.address == right.address && left.proxy == right.proxy
                && left.proxyAuthorization == right.proxyAuthorization
                && left.trust == right.trust
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
