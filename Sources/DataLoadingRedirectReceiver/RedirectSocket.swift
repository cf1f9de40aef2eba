// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A listening TCP socket on 127.0.0.1 that serves one connection at a time.
final class RedirectSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// The interval in milliseconds at which cancellation is checked.
    private static let pause: Int32 = 100
    /// The time limit of one connection; further ones may be waiting.
    private static let patience = Duration.seconds(5)
    /// The maximum number of bytes of a request that are read.
    private static let most = 16_384

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
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0
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
        while !isGivenUp() {
            guard isReadable(descriptor, within: Self.pause) else { continue }
            // A connection that arrives now is left for the next call.
            if isGivenUp() { return nil }
            let visitor = accept(descriptor, nil, nil)
            guard visitor >= 0 else {
                // Without a free descriptor, for example, the connection stays in the queue, and
                // the socket is readable at once.
                _ = poll(nil, 0, Self.pause)
                continue
            }
            defer { _ = close(visitor) }
            prepare(visitor)
            guard let target = target(of: visitor, unless: isGivenUp) else { continue }
            let isRight = isRight(target)
            say(isRight ? "200 OK" : "404 Not Found", to: visitor)
            if isRight { return target }
        }
        return nil
    }

    private func prepare(_ visitor: Int32) {
        _ = fcntl(visitor, F_SETFD, FD_CLOEXEC)
        // On some systems the connection inherits the listening socket's flags.
        _ = fcntl(visitor, F_SETFL, 0)
        #if canImport(Darwin)
            // Other systems set it with each `send`.
            var isSilent: Int32 = 1
            _ = setsockopt(
                visitor, SOL_SOCKET, SO_NOSIGPIPE, &isSilent, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// The target of a GET; nil for any other request, and after a time-out.
    private func target(of visitor: Int32, unless isGivenUp: () -> Bool) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2_048)
        let end = ContinuousClock.now + Self.patience
        while bytes.count < Self.most, ContinuousClock.now < end, !isGivenUp() {
            guard isReadable(visitor, within: Self.pause) else { continue }
            let count = recv(visitor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            // Reads all of the head: closing with unread bytes would reset the connection.
            guard String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") else { continue }
            let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            return words.count == 3 && words[0] == "GET" ? String(words[1]) : nil
        }
        return nil
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

    private func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private static func failure() -> AuthorisationError {
        .invalidConfiguration(reason: "no port: \(String(cString: strerror(errno)))")
    }
}
