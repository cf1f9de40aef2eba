// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Where a connection over HTTP/1.1 leads: an attempt to the same place may use it.
///
/// Authorities and client certificates are not a part of it, though libcurl tells connections apart by
/// these too: few programs use several for one origin, and they only open connections more.
struct ConnectionPlace: Hashable {
    /// The host; or a proxy that opens no tunnel to it.
    let origin: Origin
    /// The address in place of the host's name.
    let address: String?
    /// The proxy that opens a tunnel.
    let proxy: Origin?
}

extension CurlTransfer {
    /// Where its connection leads; nil without an attempt.
    var place: ConnectionPlace? {
        guard let request = task?.request, let origin else { return nil }
        let proxy = request.proxy?.origin
        return proxy == nil || origin.isSecure
            ? ConnectionPlace(origin: origin, address: request.address, proxy: proxy)
            : ConnectionPlace(origin: proxy ?? origin, address: nil, proxy: nil)
    }
}
