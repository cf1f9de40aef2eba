// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import DataLoadingSupport
import Foundation

/// The socket at which systemd waits for messages of a service (`sd_notify(3)`).
struct NotifySocket: Sendable {
    /// What became of a message.
    enum Outcome {
        case taken
        /// There was no room for it, in all the time that it had.
        case busy
        case failed
    }

    private let path: [UInt8]
    /// How long a message that must arrive may take, where systemd is busy.
    private let patience: Duration

    /// Takes the value of `NOTIFY_SOCKET`; nil when it is no address of a Unix-domain socket.
    ///
    /// It is an absolute path, or "@" and the name of a Linux abstract socket.
    init?(_ address: String, patience: Duration) {
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
        self.patience = patience
    }

    /// Sends a message, at once or, if it waits, in the time that was set; no signal ends that.
    ///
    /// With a socket for each message, because there are few and systemd may be started anew.
    func send(_ message: String, waits: Bool) -> Outcome {
        #if canImport(Darwin)
            let kind = SOCK_DGRAM
        #else
            // Set with the call itself: a program that is started in between would get it.
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return .failed }
        defer { closeDescriptor(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if waits {
            var limit = timeval(patience)
            let size = socklen_t(MemoryLayout<timeval>.size)
            _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
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
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                SystemCall.attempt {
                    sendto(descriptor, bytes, bytes.count, 0, address, length)
                }
            }
        }
        switch outcome {
        case .count(let count): return count == bytes.count ? .taken : .failed
        case .wouldBlock: return .busy
        case .failed: return .failed
        }
    }
}

extension timeval {
    /// A duration, at least a microsecond: zero would be no limit.
    fileprivate init(_ duration: Duration) {
        let microseconds = max(1, duration.wholeNanoseconds / 1_000)
        self.init()
        tv_sec = .init(microseconds / 1_000_000)
        tv_usec = .init(microseconds % 1_000_000)
    }
}
