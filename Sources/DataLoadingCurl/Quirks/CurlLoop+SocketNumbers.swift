// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

// Quirk: libcurl closes a socket that did not connect without its close callback, and the
// kernel then drops the socket's registration. Where libcurl opens the next socket, with the
// same number, before it has said that the old one is not to be watched any more, it does not
// ask for the new one to be watched.
//
// Seen on: 7.88.1.
//
// Upstream: no upstream report known; https://github.com/curl/curl/issues/20471 is about
// descriptors that are reused without the open callback.
//
// Remove when every supported version calls the close callback (`cf_socket_close` in
// lib/cf-socket.c). `SocketReuseTests`, "a socket with the number of one that did not connect
// is watched", plays libcurl's part itself and goes with the code.

extension CurlLoop {
    /// Notes a socket that was opened for libcurl, whose number another socket may have had
    /// before.
    func openedSocket(_ socket: Int32, to address: UnsafeMutablePointer<ccurl_sockaddr>) {
        noteClosing(socket)
        let index = Int(socket)
        while sockets.count <= index { sockets.append(SocketEntry()) }
        if !sockets[index].isOpenedHere { openSockets &+= 1 }
        sockets[index].isOpenedHere = true
        sockets[index].peer = CurlTransfer.addressBytes(address)
        sockets[index].peerPort = CurlTransfer.port(address)
        sockets[index].lastReadable = now
        sockets[index].registered = 0
        sockets[index].generation &+= 1
        if sockets[index].wanted != 0 { register(socket) }
    }
}
