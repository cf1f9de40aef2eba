// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
public import Foundation

/// A small HTTP/1.1 server on the loopback interface, scriptable to the byte and to the pause.
///
/// ```swift
/// let server = try LoopbackServer { request in .ok("hello") }
/// defer { server.stop() }
/// // let the code under test load server.url("/greeting"), then
/// await server.waitForRequests(1)
/// #expect(server.requests[0].target == "/greeting")
/// ```
/// It speaks what a test tells it to speak, broken HTTP included, and records what arrived. It is
/// no server for anything but tests: it believes every client and holds a thread a connection.
///
/// Answers, scripts and their steps run on the thread of their connection, in order; different
/// connections run side by side. After `stop()`, which `deinit` calls too, no thread and no
/// descriptor of it is left.
public final class LoopbackServer: Sendable {
    /// The port it listens on.
    public let port: UInt16
    /// What it was made with.
    public let configuration: Configuration
    let recorder: Recorder
    private let script: Locked<LoopbackScript>
    private let acceptor: Locked<Acceptor?>

    /// Makes a server that answers each request by a closure, and starts it.
    public convenience init(
        _ configuration: Configuration = Configuration(),
        answer: @escaping LoopbackHandler.Answer
    ) throws {
        try self.init(configuration, handler: LoopbackHandler(answer))
    }

    /// Makes a server whose connections are all served by one handler, and starts it.
    public convenience init(
        _ configuration: Configuration = Configuration(), handler: LoopbackHandler
    ) throws {
        try self.init(configuration, script: .serve(handler))
    }

    /// Makes a server that runs a script on each connection, and starts it.
    public init(
        _ configuration: Configuration = Configuration(), script: LoopbackScript
    ) throws {
        let address = try SocketAddress(host: configuration.host, port: configuration.port)
        let listener = try ListeningSocket.make(boundTo: address)
        do {
            try ListeningSocket.tune(listener, configuration)
            try ListeningSocket.start(listener, backlog: configuration.backlog)
            port = try SocketAddress(boundTo: listener).port
        } catch {
            SystemCall.release(listener)
            throw error
        }
        let script = Locked(script)
        let recorder = Recorder(
            requestLimit: configuration.recordLimit, connectionLimit: configuration.recordLimit)
        self.configuration = configuration
        self.script = script
        self.recorder = recorder
        acceptor = Locked(
            try Acceptor(
                listener: listener, recorder: recorder, bodyLimit: configuration.recordedBodyLimit
            ) { script.withLock { $0 } })
    }

    deinit {
        stop()
    }

    /// Closes everything and returns when no thread and no descriptor of the server is left.
    ///
    /// Waits, pauses and stalls of scripts end at once; a closure that blocks is waited for.
    /// Connections are closed in order or, if asked, reset. Records stay; tasks that wait for more
    /// of them return. Stopping again does nothing.
    public func stop(resettingConnections: Bool = false) {
        let running = acceptor.withLock { acceptor in
            defer { acceptor = nil }
            return acceptor
        }
        running?.stop(resettingConnections: resettingConnections)
        recorder.finish()
    }

    /// Changes what is done with connections that are accepted from now on.
    public func setScript(_ script: LoopbackScript) {
        self.script.withLock { $0 = script }
    }
}

extension LoopbackServer {
    /// The address of a target, which must be empty or start with a slash and be legal in a URL.
    public func url(_ target: String = "/") -> URL {
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        guard let url = URL(string: "http://\(host):\(port)\(target)") else {
            preconditionFailure("\(target) is no target")
        }
        return url
    }
}
