// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Ports of the loopback interface.
enum LoopbackPort {
    /// A port without a listener.
    static func free() throws -> UInt16 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) != 0 || getsockname(socket, address, &size) != 0
            }
        }
        guard !failure else { throw Complaint("there is no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Whether the port accepts connections before the limit passes.
    static func accepts(_ port: UInt16, within limit: Duration) -> Bool {
        let end = ContinuousClock.now + limit
        repeat {
            if connects(port) { return true }
            usleep(10_000)
        } while ContinuousClock.now < end
        return false
    }

    private static func connects(_ port: UInt16) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(port: port)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
