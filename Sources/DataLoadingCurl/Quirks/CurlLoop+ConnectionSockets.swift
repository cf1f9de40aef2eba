// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

// Quirk: CURLINFO_ACTIVESOCKET names a socket only once the transfer is over, so that the
// socket of a running transfer is found by its ports and its peer. The system gives one local
// port to connections of several peers.
//
// Seen on: 7.88.1.
//
// Upstream: https://github.com/curl/curl/issues/5299, which was closed with a clearer
// documentation.
//
// Remove when libcurl names the socket of a running transfer and these tests pass with it:
// `FaultMatrix`, the row "a connection that has died"; `CurlAddressTests`, "a connection is
// identified by its peer and its ports".

extension CurlLoop {
    /// Returns the descriptor of a transfer's connection, found by its ports and its peer.
    func socket(of transfer: CurlTransfer) -> Int32? {
        if transfer.isLocal { return transfer.localSocket }
        let local = transfer.long(CurlInfo.localPort)
        let remote = transfer.long(CurlInfo.remotePort)
        let peer = transfer.peerAddress
        let index = sockets.indices.first { index in
            sockets[index].isOpenedHere
                && Self.connects(Int32(index), from: local, to: peer, remote)
        }
        return index.map { Int32($0) }
    }

    /// Returns whether a socket connects a local port with an address and its port.
    static func connects(
        _ socket: Int32, from local: Int, to address: [UInt8], _ remote: Int
    ) -> Bool {
        port(socket, getsockname) == local && port(socket, getpeername) == remote
            && CurlTransfer.peerAddress(of: socket) == address
    }

    static func port(
        _ socket: Int32,
        _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) ->
            Int32
    ) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { addresses in
                addresses.baseAddress.map { read(socket, $0, &length) }
            }
        }
        // The port has the same offset in both families.
        return result == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : nil
    }

    /// Returns the descriptor of the connection that was opened for a transfer.
    func socket(of transfer: CurlTransfer, _ name: ConnectionName) -> Int32? {
        transfer.state.routing.sockets.first { socket in
            sockets[Int(socket)].isOpenedHere
                && Self.port(socket, getsockname) == name.localPort
                && sockets[Int(socket)].peerPort == name.peerPort
        }
    }
}
