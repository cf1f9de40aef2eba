// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A listening TCP socket on 127.0.0.1 that serves several connections at a time.
///
/// Browsers open connections on which they send nothing, and other programs of the machine may hold
/// some: none of them delays the redirect.
final class RedirectSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// The interval in milliseconds at which cancellation is checked.
    private static let pause: Int32 = 100
    /// The maximum number of connections at a time; one more ends the oldest.
    private static let maxVisitors = 16

    init(port: UInt16) throws {
        #if canImport(Darwin)
            let stream = SOCK_STREAM
        #else
            // Set with the call itself: a process that is started in between would keep the port.
            let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = Foundation.socket(AF_INET, stream, 0)
        self.descriptor = descriptor
        guard descriptor >= 0 else { throw Self.failure() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // The connection may be closed, or accepted by another call, before `accept`.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // A port of an earlier login can be bound again at once.
        var isReused: Int32 = 1
        _ = setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused,
            socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        let failure = Self.failure()
        self.port = UInt16(bigEndian: address.sin_port)
        // From here on `deinit` closes it, also after an error.
        guard isListening else { throw failure }
    }

    deinit {
        _ = close(descriptor)
    }

    /// Returns the target of the first matching request; nil after cancellation.
    func target(
        where isRight: (String) -> Bool, unless isGivenUp: () -> Bool
    ) -> String? {
        // In the order of their arrival.
        var visitors: [RedirectVisitor] = []
        defer { for visitor in visitors { _ = close(visitor.descriptor) } }
        while !isGivenUp() {
            let ready = readable(visitors.map(\.descriptor) + [descriptor])
            for index in visitors.indices.reversed()
            where ready.contains(visitors[index].descriptor) {
                let request = visitors[index].read()
                if case .incomplete = request { continue }
                let visitor = visitors.remove(at: index).descriptor
                defer { _ = close(visitor) }
                guard case .target(let target) = request else { continue }
                let isRight = isRight(target)
                say(isRight ? "200 OK" : "404 Not Found", to: visitor)
                if isRight { return target }
            }
            visitors.removeAll { visitor in
                guard ContinuousClock.now >= visitor.end else { return false }
                _ = close(visitor.descriptor)
                return true
            }
            guard ready.contains(descriptor) else { continue }
            // A connection that arrives now is left for the next call.
            if isGivenUp() { return nil }
            guard let visitor = acceptVisitor() else { continue }
            visitors.append(visitor)
            if visitors.count > Self.maxVisitors { _ = close(visitors.removeFirst().descriptor) }
        }
        return nil
    }

    private func acceptVisitor() -> RedirectVisitor? {
        let visitor = accept(descriptor, nil, nil)
        guard visitor >= 0 else {
            // Without a free descriptor, for example, the connection stays in the queue, and the
            // socket is readable at once.
            _ = poll(nil, 0, Self.pause)
            return nil
        }
        _ = fcntl(visitor, F_SETFD, FD_CLOEXEC)
        // On some systems the connection inherits the listening socket's flags, on others not.
        _ = fcntl(visitor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            // Other systems set it with each `send`.
            var isSilent: Int32 = 1
            _ = setsockopt(
                visitor, SOL_SOCKET, SO_NOSIGPIPE, &isSilent, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return RedirectVisitor(descriptor: visitor)
    }

    private func say(_ status: String, to visitor: Int32) {
        let text = status.hasPrefix("200") ? "Done. You may close this page." : "Nothing is here."
        let answer = """
            HTTP/1.1 \(status)\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(text.utf8.count)\r
            Cache-Control: no-store\r
            Connection: close\r
            \r
            \(text)
            """
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        _ = Array(answer.utf8).withUnsafeBytes { send(visitor, $0.baseAddress, $0.count, flags) }
    }

    /// The descriptors that can be read, or have ended, as soon as there is one.
    private func readable(_ descriptors: [Int32]) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), Self.pause) > 0 else { return [] }
        return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }

    private static func failure() -> AuthorisationError {
        .invalidConfiguration(reason: "no port: \(String(cString: strerror(errno)))")
    }
}
