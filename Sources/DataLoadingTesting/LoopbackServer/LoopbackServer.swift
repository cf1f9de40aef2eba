// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading
public import Foundation

/// A small HTTP/1.1 server on the loopback interface with scripted bytes and pauses.
///
/// ```swift
/// let server = try LoopbackServer { request in .ok("hello") }
/// defer { server.stop() }
/// async let body = fetch(server.url("/greeting"), with: service)
/// await server.waitForRequests(1)
/// #expect(server.requests[0].target == "/greeting")
/// ```
/// It sends what a test scripts, including invalid HTTP, and records what arrived. Use it in tests
/// only: it trusts every client and holds a thread per connection.
///
/// Answers, scripts and their steps run on the thread of their connection, in order; different
/// connections run concurrently. `stop()`, which `deinit` calls too, releases all threads and
/// descriptors.
public final class LoopbackServer: Sendable {
    enum State {
        case listening(Acceptor)
        case down
        case stopped
    }

    /// The port it listens on; 0 for a Unix-domain socket.
    public let port: UInt16
    /// The configuration it was made with.
    public let configuration: Configuration
    let recorder: Recorder
    let script: Locked<LoopbackScript>
    let reservation: PortReservation
    let state = Locked(State.down)
    let cipher: Cipher?

    /// Makes a server that answers each request by a closure, and starts it.
    public convenience init(
        _ configuration: Configuration = Configuration(),
        answer: @escaping LoopbackHandler.Answer
    ) throws {
        try self.init(configuration, handler: LoopbackHandler(answer))
    }

    /// Makes a server with one handler for all connections, and starts it.
    public convenience init(
        _ configuration: Configuration = Configuration(), handler: LoopbackHandler
    ) throws {
        try self.init(configuration, script: .serve(handler))
    }

    /// Makes a server that runs a script on each connection, and starts it.
    public convenience init(
        _ configuration: Configuration = Configuration(), script: LoopbackScript
    ) throws {
        try self.init(configuration, script: script, cipher: nil)
    }

    /// Wraps a connection's bytes in a cipher, on the connection's thread.
    package typealias Cipher = @Sendable (_ socket: any ByteStream) -> any ByteStream

    /// Makes a server whose connections are encrypted.
    package init(
        _ configuration: Configuration = Configuration(), script: LoopbackScript, cipher: Cipher?
    ) throws {
        self.configuration = configuration
        self.cipher = cipher
        self.script = Locked(script)
        recorder = Recorder(
            requestLimit: configuration.recordLimit, connectionLimit: configuration.recordLimit)
        reservation = try LoopbackServerError.rethrowing { try PortReservation(configuration) }
        port = reservation.port
        try comeUp()
    }

    deinit {
        stop()
    }

    /// The address for a `HostResolver`: "127.0.0.1:8080", or "unix:" and the path of the socket.
    public var address: String {
        if let path = configuration.unixSocket { return "unix:" + path }
        return URL.authority(host: configuration.host, port: port)
    }

    /// The URL of a target, which must be empty or start with a slash and be legal in a URL.
    ///
    /// It leads to a port, not to a Unix-domain socket.
    public func url(_ target: String = "/") -> URL {
        .loopback(host: configuration.host, port: port, target: target)
    }

    /// Changes the script of connections that are accepted from now on.
    public func setScript(_ script: LoopbackScript) {
        self.script.withLock { $0 = script }
    }
}

extension URL {
    /// Makes the URL of a target on a numeric address.
    static func loopback(host: String, port: UInt16, target: String) -> URL {
        guard let url = URL(string: "http://\(authority(host: host, port: port))\(target)") else {
            preconditionFailure("\(target) is no target")
        }
        return url
    }

    fileprivate static func authority(host: String, port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
