// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Foundation

/// The socket of an endpoint, and what is left of it in the file system.
final class EndpointListener: Sendable {
    /// How many connections may wait to be accepted.
    private static let backlog = 16

    let descriptor: Int32
    /// The port; nil for a Unix-domain socket.
    let port: UInt16?
    /// The path of a Unix-domain socket, and which file it was there.
    private let file: (path: String, identity: Identity?)?

    private struct Identity: Equatable {
        let (device, inode): (UInt64, UInt64)

        /// Which file a path names; nil without one.
        init?(of path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
        }
    }

    init(_ place: OperationsEndpoint.Place) throws {
        switch place {
        case .loopback(let port, _):
            let address = try SocketAddress(host: "127.0.0.1", port: port)
            descriptor = try ListeningSocket.make(boundTo: address)
            file = nil
            do {
                self.port = try SocketAddress(boundTo: descriptor).port
                try ListeningSocket.start(descriptor, backlog: Self.backlog)
            } catch {
                SystemCall.release(descriptor)
                throw error
            }
        case .unixSocket(let path, let mode):
            let address = try SocketAddress(path: path)
            try Self.removeStaleSocket(path, address)
            descriptor = try ListeningSocket.make(boundTo: address)
            file = (path, Identity(of: path))
            port = nil
            do {
                // Before anybody can connect: until it listens the system refuses connections.
                try SystemCall.check("chmod", chmod(path, mode_t(mode & 0o777)))
                try ListeningSocket.start(descriptor, backlog: Self.backlog)
            } catch {
                unlink(path)
                SystemCall.release(descriptor)
                throw error
            }
        }
    }

    deinit {
        // First the path: once the socket is closed, the next process may bind its own. Where the
        // file was removed, that process may have done so already.
        if let file, file.identity == Identity(of: file.path) { unlink(file.path) }
        SystemCall.release(descriptor)
    }

    /// Removes a socket without a listener; anything else stays, and cannot be bound.
    private static func removeStaleSocket(_ path: String, _ address: SocketAddress) throws {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let probe = try PlatformSocket.make(family: address.family)
        defer { SystemCall.release(probe) }
        // A process that is suspended accepts nothing, and its queue may be full.
        _ = fcntl(probe, F_SETFL, O_NONBLOCK)
        guard address.withPointer({ connect(probe, $0, $1) }) < 0, errno == ECONNREFUSED else {
            return
        }
        unlink(path)
    }
}

extension Error {
    /// Why a socket could not be had, in the system's words.
    var reason: String {
        guard let error = self as? SocketError else { return "\(self)" }
        guard error.code != 0 else { return "\(error.operation) is not possible" }
        return "\(error.operation): \(String(cString: strerror(error.code)))"
    }
}
