// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The properties that decide which connections an attempt may use.
struct RouteKey: Hashable {
    let host: String
    let port: UInt16
    /// The address to connect to instead of the host; nil for the host.
    let address: String?
    var proxy: Proxy?
    /// The credential with which the proxy opens tunnels.
    var proxyAuthorization: String?
    let trust: HostTrust?

    // Trust is not hashed: equality compares it where the rest is the same.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(address)
    }
}
