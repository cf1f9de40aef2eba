// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Attempts over a Unix-domain socket.
///
/// Each has a connection of its own: nothing that libcurl tells about a connection identifies one
/// of these, and connecting costs no round trip. So a server that has restarted is never sent a
/// request on a connection to its predecessor.
extension CurlTransfer {
    /// Whether the attempt connects to a Unix-domain socket.
    var isLocal: Bool { connectTarget?.socketPath != nil }

    /// Sets the socket to connect to; libcurl then resolves no name.
    func setSocket(_ path: String) throws(DataLoaderError) {
        guard ccurl_set_pointer(easy, CurlOption.unixSocketPath, path) == 0 else {
            throw .unsupported(reason: "libcurl has no Unix-domain sockets")
        }
        try set(CurlOption.forbidReuse, 1)
    }

    /// Notes the socket that was opened for the attempt.
    func noteLocalSocket(_ socket: Int32) {
        state.routing.localSocket = (socket, loop.sockets[Int(socket)].generation)
    }

    /// The attempt's socket while it is open.
    var localSocket: Int32? {
        guard let local = state.routing.localSocket,
            loop.sockets[Int(local.descriptor)].generation == local.generation
        else { return nil }
        return local.descriptor
    }

    /// Returns whether the attempt may send on its socket; otherwise notes why not.
    ///
    /// When the server's queue of connections is full, `connect` fails with EAGAIN at once, which
    /// libcurl takes for a connection in progress.
    func maySendLocally(to peer: [UInt8]) -> Bool {
        guard maySend(to: peer) else { return false }
        guard let socket = localSocket, Self.isConnected(socket) else {
            state.stop = .connectRefused
            return false
        }
        return true
    }

    /// Returns whether a request may go to a socket, which is on this machine and has no address.
    func allowsSocket() -> Bool {
        guard task?.request.refusesPrivateAddresses == true else { return true }
        state.stop = .privateAddress
        return false
    }

    private static func isConnected(_ socket: Int32) -> Bool {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(socket, $0, &length) == 0
            }
        }
    }
}
