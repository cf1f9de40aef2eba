// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CLoopback
import Glibc

/// Ports of the loopback interface.
enum LoopbackPort {
    /// A port without a listener.
    static func free() throws -> UInt16 {
        let (socket, port) = try bind()
        close(socket)
        return port
    }

    /// A socket that is bound to a free port, and the port.
    static func bind() throws -> (socket: Int32, port: UInt16) {
        var port: UInt16 = 0
        let socket = loopback_bind(&port)
        guard socket >= 0 else { throw Complaint("there is no free port") }
        return (socket, port)
    }

    /// Whether the port accepts connections before the limit passes.
    static func accepts(_ port: UInt16, within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        repeat {
            if loopback_accepts(port) != 0 { return true }
            usleep(10_000)
        } while ContinuousClock.now < end
        return false
    }
}
