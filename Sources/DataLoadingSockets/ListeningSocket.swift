// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Makes and tunes sockets that listen, and the connections that they accept.
package enum ListeningSocket {
    /// Makes a socket that is bound and does not listen yet; a port may be bound again right after
    /// its use.
    package static func make(
        boundTo address: SocketAddress, receiveBufferSize: Int32? = nil,
        sendBufferSize: Int32? = nil
    ) throws -> Int32 {
        let descriptor = try PlatformSocket.make(family: address.family)
        do {
            try set(SO_REUSEADDR, to: 1, on: descriptor)
            // Accepted connections inherit the sizes.
            if let receiveBufferSize { try set(SO_RCVBUF, to: receiveBufferSize, on: descriptor) }
            if let sendBufferSize { try set(SO_SNDBUF, to: sendBufferSize, on: descriptor) }
            try SystemCall.check("bind", address.withPointer { bind(descriptor, $0, $1) })
            return descriptor
        } catch {
            SystemCall.release(descriptor)
            throw error
        }
    }

    /// Starts to listen, in non-blocking mode.
    package static func start(_ descriptor: Int32, backlog: Int) throws {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        try SystemCall.check("listen", listen(descriptor, Int32(clamping: backlog)))
    }

    /// Sets an integer option of the socket level.
    private static func set(_ option: Int32, to value: Int32, on descriptor: Int32) throws {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        try SystemCall.check(
            "setsockopt", setsockopt(descriptor, SOL_SOCKET, option, &value, size))
    }

    /// Disables Nagle's algorithm, so that each piece is sent when it is written.
    package static func sendWithoutDelay(_ descriptor: Int32) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
    }

    /// Makes the next close a reset: unsent bytes are dropped, and the client receives RST.
    package static func resetOnClose(_ descriptor: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, size)
    }

    /// Shuts down the sending side.
    package static func finishWriting(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }
}
