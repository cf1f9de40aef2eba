// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A socket that is bound and never listens, to keep a port for a server that is down.
///
/// Linux lets others bind next to it that allow it too, and gives the port to nobody who asks for
/// any. Where the system does not let two sockets share a port, it is let go for the server's own.
final class PortReservation: Sendable {
    let port: UInt16
    private let descriptor: Locked<Int32?>

    init(_ configuration: LoopbackServer.Configuration) throws {
        let (descriptor, port) = try ListeningSocket.make(configuration, port: configuration.port)
        self.port = port
        self.descriptor = Locked(descriptor)
    }

    deinit {
        release()
    }

    /// Makes a socket on the port that may listen.
    func makeListener(_ configuration: LoopbackServer.Configuration) throws -> Int32 {
        if let made = try? ListeningSocket.make(configuration, port: port) {
            return made.descriptor
        }
        release()
        return try ListeningSocket.make(configuration, port: port).descriptor
    }

    /// Gives the port back.
    func release() {
        if let descriptor = descriptor.withLock({ $0.take() }) { SystemCall.release(descriptor) }
    }
}
