// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

// Quirk: when one connection to a server speaks HTTP/2, libcurl takes every connection to that
// server for one that multiplexes. It then sends a request on a connection of HTTP/1.1 that is
// in use.
//
// Seen on: 7.88.1. Fixed in 8.5.0 by curl commit 1c37d472a0.
//
// Applies to every version: the protocols have a multi handle each, and each send is checked.
// Where `CurlLibrary.separatesProtocols`, `HTTP2Use.automatic` offers HTTP/2.
//
// Remove with support for libcurl below 8.5.0, when this test passes without it:
// `CurlRouteTests`, "no request is sent on an HTTP/1.1 connection that is in use".

extension CurlLoop {
    /// Reserves a connection of HTTP/1.1 for an attempt; false when another attempt uses it.
    func takeSerialConnection(
        _ name: ConnectionName, for transfer: CurlTransfer, isNew: Bool
    ) -> Bool {
        if !isNew, let other = serialUsers[name], other !== transfer,
            other.state.routing.speaksHTTP2 != true, !other.isDone
        {
            if transfer.state.routing.mustBeFresh {
                transfer.state.stop = .connectionReset
            } else {
                transfer.state.routing.isOnBusyConnection = true
            }
            return false
        }
        serialUsers[name] = transfer
        return true
    }

    /// Starts an attempt again on an HTTP/1.1 connection of its own.
    func sendElsewhere(_ transfer: CurlTransfer) {
        guard withdraw(transfer) else { return finish(transfer, .cancelled) }
        transfer.state.routing = ConnectionRouting()
        transfer.state.routing.mustBeFresh = true
        resolve(transfer)
    }
}

extension CurlTransfer {
    /// Whether libcurl has ended the transfer, although it may not have reported that yet.
    ///
    /// Before that, CURLINFO_ACTIVESOCKET is no socket (7.88).
    fileprivate var isDone: Bool {
        var socket = -1
        guard !state.routing.isOver else { return true }
        guard ccurl_get_long(easy, CurlInfo.activeSocket, &socket) == 0 else { return false }
        return Int32(truncatingIfNeeded: socket) >= 0
    }
}
