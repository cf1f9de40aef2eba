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
        if let proxy = request.proxy?.origin, !origin.isSecure {
            return ConnectionPlace(origin: proxy, address: nil, proxy: nil)
        }
        return ConnectionPlace(
            origin: origin, address: request.address, proxy: request.proxy?.origin)
    }
}
