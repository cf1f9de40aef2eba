// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One connection to the redirect's socket, and what it has sent so far.
struct RedirectVisitor {
    /// What a connection has asked for.
    enum Request {
        /// More may come.
        case incomplete
        /// A GET.
        case target(String)
        /// Something else, or the end of the connection.
        case other
    }

    /// It does not block; the owner closes it.
    let descriptor: Int32
    /// The instant at which a connection without a whole request is closed.
    let end: ContinuousClock.Instant
    private var bytes: [UInt8] = []

    /// The time limit of one connection.
    private static let patience = Duration.seconds(5)
    /// The maximum number of bytes of a request that are read.
    private static let most = 16_384

    init(descriptor: Int32) {
        self.descriptor = descriptor
        end = ContinuousClock.now + Self.patience
    }

    /// Reads what has come.
    mutating func read() -> Request {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
        guard count > 0 else { return .other }
        bytes += buffer[..<count]
        // Reads all of the head: closing with unread bytes would reset the connection.
        guard String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") else {
            return bytes.count < Self.most ? .incomplete : .other
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        return words.count == 3 && words[0] == "GET" ? .target(String(words[1])) : .other
    }
}
