// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A blocking socket that sends exactly what it is told to, for tests of servers.
///
/// A read fails after a minute, so that a mistake does not hang the test.
final class RawClient {
    enum Ending: Equatable {
        case closed, reset, timedOut
    }

    struct Failure: Error {
        let operation: String
        let code: Int32
    }

    private var descriptor: Int32
    private var held: [UInt8] = []

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, streamKind, 0)
        guard descriptor >= 0 else { throw Failure(operation: "socket", code: errno) }
        set(SO_RCVTIMEO, to: timeval(tv_sec: 60 * patience, tv_usec: 0))
        if let receiveBuffer { set(SO_RCVBUF, to: receiveBuffer) }
        guard Self.connect(descriptor, to: port) == 0 else {
            let code = errno
            disconnect()
            throw Failure(operation: "connect", code: code)
        }
    }

    /// Whether a connection to the port succeeds within the time.
    static func connects(to port: UInt16, within limit: Duration) throws -> Bool {
        let descriptor = socket(AF_INET, streamKind, 0)
        guard descriptor >= 0 else { throw Failure(operation: "socket", code: errno) }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        guard connect(descriptor, to: port) != 0 else { return true }
        guard errno == EINPROGRESS else { throw Failure(operation: "connect", code: errno) }
        var events = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&events, 1, Int32(limit / .milliseconds(1))) > 0
    }

    deinit {
        disconnect()
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, quietly)
            }
            guard count > 0 else { throw Failure(operation: "send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a GET and reads the whole response.
    func get(_ target: String = "/") throws -> RawResponse {
        try send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        return try response()
    }

    /// Reads a head and a body of its Content-Length.
    func response() throws -> RawResponse {
        var head: [UInt8] = []
        while !head.ends(with: "\r\n\r\n") { head += try read(1) }
        let text = String(decoding: head, as: UTF8.self)
        let field = text.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        let length = field.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
        return RawResponse(head: text, body: try read(length))
    }

    /// Reads exactly this many bytes.
    func read(_ count: Int) throws -> [UInt8] {
        while held.count < count {
            let ending = fill()
            guard ending == nil else { throw Failure(operation: "recv", code: errno) }
        }
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Reads all bytes and how they end.
    func readToEnd() -> (text: String, ending: Ending) {
        while true {
            guard let ending = fill() else { continue }
            defer { held = [] }
            return (String(decoding: held, as: UTF8.self), ending)
        }
    }

    /// Reads and drops all bytes, passing each piece, and returns how they end.
    func readToEnd(_ body: ([UInt8]) -> Void) -> Ending {
        while true {
            body(held)
            held.removeAll(keepingCapacity: true)
            if let ending = fill() { return ending }
        }
    }

    func halfClose() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func disconnect() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    func reset() {
        set(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
        disconnect()
    }

    private static func connect(_ descriptor: Int32, to port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func set<Value: BitwiseCopyable>(_ option: Int32, to value: Value) {
        var value = value
        setsockopt(
            descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Value>.size))
    }

    private func fill() -> Ending? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 {
            held += bytes[..<count]
            return nil
        }
        if count == 0 { return .closed }
        return errno == ECONNRESET ? .reset : .timedOut
    }
}

struct RawResponse {
    let head: String
    let body: [UInt8]

    var status: String { String(head.prefix { $0 != "\r\n" }) }
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}

#if os(Linux) || os(Android)
    // A child process of another test must not inherit a connection that is closed here.
    private let streamKind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private let quietly = Int32(MSG_NOSIGNAL)
#else
    private let streamKind = SOCK_STREAM
    private let quietly: Int32 = 0
#endif
