// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSockets
import DataLoadingSupport

/// A socket that is bound and never listens, to keep the port of a server that is down.
///
/// Linux lets other sockets with the same option bind the port too, and does not choose the port
/// for sockets that ask for any. Where two sockets cannot share a port, the reservation is released
/// for the server's own socket.
final class PortReservation: Sendable {
    let port: UInt16
    private let descriptor: Locked<Int32?>

    init(_ configuration: LoopbackServer.Configuration) throws {
        guard configuration.unixSocket == nil else {
            (port, descriptor) = (0, Locked(nil))
            return
        }
        let (descriptor, port) = try ListeningSocket.make(configuration, port: configuration.port)
        self.port = port
        self.descriptor = Locked(descriptor)
    }

    deinit {
        release()
    }

    /// Makes a socket on the port for listening.
    func makeListener(_ configuration: LoopbackServer.Configuration) throws -> Int32 {
        if let made = try? ListeningSocket.make(configuration, port: port) {
            return made.descriptor
        }
        release()
        return try ListeningSocket.make(configuration, port: port).descriptor
    }

    /// Releases the port.
    func release() {
        if let descriptor = descriptor.withLock({ $0.take() }) { SystemCall.release(descriptor) }
    }
}
