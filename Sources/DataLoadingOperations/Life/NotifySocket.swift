// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The socket at which systemd waits for messages of a service (`sd_notify(3)`).
struct NotifySocket: Sendable {
    private let path: [UInt8]

    /// Takes the value of `NOTIFY_SOCKET`; nil when it is no address of a Unix-domain socket.
    ///
    /// It is an absolute path, or "@" and the name of a Linux abstract socket.
    init?(_ address: String) {
        var bytes = Array(address.utf8)
        switch bytes.first {
        case UInt8(ascii: "@"): bytes[0] = 0
        // The path ends in a zero byte.
        case UInt8(ascii: "/"): bytes.append(0)
        default: return nil
        }
        // Neither the root nor an empty name.
        let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        guard bytes.count > 1, bytes.count <= capacity, address != "/",
            !address.utf8.contains(0)
        else { return nil }
        path = bytes
    }

    /// How long a message that must arrive may take, where systemd is busy.
    private static let patience = timeval(tv_sec: 2, tv_usec: 0)

    /// Sends a message; false when it was not taken, at once or in two seconds.
    ///
    /// With a socket for each message, because there are few and systemd may be started anew.
    func send(_ message: String, waits: Bool) -> Bool {
        #if canImport(Darwin)
            let kind = SOCK_DGRAM
        #else
            // Set with the call itself: a program that is started in between would get it.
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { closeDescriptor(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if waits {
            var patience = Self.patience
            let size = socklen_t(MemoryLayout<timeval>.size)
            _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        } else {
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // An abstract name has no end but that of the address.
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(offset + path.count)
        let bytes = Array(message.utf8)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, bytes, bytes.count, 0, address, length) == bytes.count
            }
        }
    }
}
