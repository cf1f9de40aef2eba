// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSockets
import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

public import Foundation

/// A port where connecting never ends: it listens, its queue is full and nothing is accepted.
///
/// On Linux the system drops every further SYN without an answer, as with an overloaded or cut-off
/// host. `close()`, which `deinit` calls too, frees everything; clients that still try are then
/// refused.
public final class LoopbackBlackHole: Sendable {
    /// The port on 127.0.0.1.
    public let port: UInt16
    private let descriptors: Locked<[Int32]>

    /// Makes a full port; its queue is full when this returns.
    public init() throws {
        let configuration = LoopbackServer.Configuration()
        let (listener, port) = try LoopbackServerError.rethrowing {
            try ListeningSocket.make(configuration, port: 0)
        }
        self.port = port
        descriptors = Locked([listener])
        do {
            try LoopbackServerError.rethrowing { try fill(listener, configuration) }
        } catch {
            close()
            throw error
        }
    }

    private func fill(_ listener: Int32, _ configuration: LoopbackServer.Configuration) throws {
        try ListeningSocket.start(listener, backlog: 0)
        let bound = try SocketAddress(host: configuration.host, port: port)
        // A queue of length zero has room for one.
        let filler = try PlatformSocket.make(family: bound.family)
        descriptors.withLock { $0.append(filler) }
        try SystemCall.check("connect", bound.withPointer { connect(filler, $0, $1) })
        // The filler's `connect` may return just before it is in the queue.
        var events = [pollfd(listener, for: Int32(POLLIN))]
        SystemCall.awaitEvents(&events, milliseconds: 1000)
    }

    deinit {
        close()
    }

    /// The URL of a target, which must be empty or start with a slash and be legal in a URL.
    public func url(_ target: String = "/") -> URL {
        .loopback(host: "127.0.0.1", port: port, target: target)
    }

    /// Frees the port.
    public func close() {
        let open = descriptors.withLock { open in
            defer { open = [] }
            return open
        }
        for descriptor in open { SystemCall.release(descriptor) }
    }
}
