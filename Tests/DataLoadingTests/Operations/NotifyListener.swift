// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if os(Linux)
    /// A socket that receives what a service tells systemd.
    final class NotifyListener: Sendable {
        /// The value of `NOTIFY_SOCKET`.
        let address: String
        private let descriptor: Int32

        /// Binds an absolute path, or "@" and the name of an abstract socket.
        init?(_ address: String) {
            self.address = address
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let bytes =
                address.hasPrefix("@") ? [0] + address.utf8.dropFirst() : Array(address.utf8)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(2 + bytes.count + (address.hasPrefix("@") ? 0 : 1))
            let failure = withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length)
                }
            }
            guard failure == 0 else { return nil }
        }

        deinit {
            _ = close(descriptor)
        }

        /// The environment of a service that systemd started.
        var environment: [String: String] { ["NOTIFY_SOCKET": address] }

        /// Waits for so many messages, without holding up other tasks.
        func first(_ count: Int) async -> [String] {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        returning: (0..<count).map { _ in self.receive(flags: 0) ?? "" })
                }
            }
        }

        /// Waits for the next message, on a thread that may wait; nil after a minute without one.
        func next() -> String? {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 60_000) > 0 ? receive(flags: Int32(MSG_DONTWAIT)) : nil
        }

        /// The messages that are there.
        func rest() -> [String] {
            var messages: [String] = []
            while let next = receive(flags: Int32(MSG_DONTWAIT)) { messages.append(next) }
            return messages
        }

        private func receive(flags: Int32) -> String? {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &bytes, bytes.count, flags)
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }
#endif
