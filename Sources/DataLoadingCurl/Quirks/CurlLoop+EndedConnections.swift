// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

// Quirk: libcurl reuses some kept connections that their peer has ended. What is written to
// them is lost, and with it a request that must not be sent twice.
//
// Seen on: 8.23.0, which checks a connection at most once a second
// (https://github.com/curl/curl/pull/22169, which lib/url.c of 8.21.0 does not have). 8.14.1
// checks at each use, but reuses a connection of HTTP/2 that was closed without a GOAWAY (no
// upstream report known). 7.88.1 also reuses a connection of TLS after its peer's close_notify
// (https://github.com/curl/curl/pull/10690).
//
// Applies where `CurlLibrary.checksKeptConnections`, which is not on 7.88.1. Without the code
// the tests of `CurlEndedTests` fail on 8.23.0 and pass on 8.14.1.
//
// Remove when these tests pass without it on every supported version: `CurlEndedTests`, "a POST
// is not sent on an HTTP/1.1 connection that has ended" and the two after it; `FaultMatrix`,
// the cells of an end between two requests.

extension CurlLoop {
    /// Notes the descriptor of a connection that was opened for an attempt.
    func noteOpen(_ socket: Int32, _ name: ConnectionName) {
        guard library.checksKeptConnections else { return }
        sockets[Int(socket)].name = name
        descriptors[name] = socket
    }

    func noteClosed(_ socket: Int32) {
        let index = Int(socket)
        guard sockets.indices.contains(index), let name = sockets[index].name else { return }
        sockets[index].name = nil
        if descriptors[name] == socket { descriptors[name] = nil }
    }

    /// Returns whether a kept connection, which an attempt is about to use, has ended.
    ///
    /// Over HTTP/1.1 a peer sends nothing between two responses, except its close. Over HTTP/2
    /// it may send frames, and where other attempts use the connection libcurl sees its end by
    /// itself.
    func hasEnded(_ name: ConnectionName, for transfer: CurlTransfer) -> Bool {
        guard let socket = descriptors[name] else { return false }
        let peerState = ccurl_peer_state(socket)
        if http2Sockets[socket] == nil { return peerState > 0 }
        return peerState == 2
            && !running.values.contains {
                $0 !== transfer && $0.state.connection == name
            }
    }

    /// Makes libcurl close the connection, after which the attempt is started again.
    func closeEndedConnection(_ transfer: CurlTransfer) {
        ccurl_set_long(transfer.easy, CurlOption.forbidReuse, 1)
        transfer.state.routing.hasEnded = true
    }

    /// Starts an attempt again whose connection had ended; the second time on a new connection.
    func startAgain(_ transfer: CurlTransfer) {
        guard withdraw(transfer) else { return finish(transfer, .cancelled) }
        // The handle is set to close its connections, so it is set up anew.
        transfer.shape = nil
        var routing = ConnectionRouting()
        routing.endings = transfer.state.routing.endings + 1
        transfer.state.routing = routing
        chooseRoute(for: transfer)
    }
}
