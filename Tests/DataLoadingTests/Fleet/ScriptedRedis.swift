// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingFleet
    import DataLoadingSockets
    import DataLoadingSupport
    import Foundation

    /// A server on a Unix-domain socket whose connections do what a test says, one thread each.
    final class ScriptedRedis: Sendable {
        /// One connection, on its own thread.
        final class Peer {
            fileprivate let descriptor: Int32
            private let stop: WakePipe
            private var parser = RESPParser()

            fileprivate init(_ descriptor: Int32, _ stop: WakePipe) {
                self.descriptor = descriptor
                self.stop = stop
            }

            /// Reads a command; nil when the client has ended the connection, or the server stops.
            func read() -> [String]? {
                while true {
                    if let command = try? parser.next() {
                        return command.elements?.map { $0.text ?? "" }
                    }
                    guard let piece = receive() else { return nil }
                    parser.add(piece)
                }
            }

            /// Reads and drops until the client has ended the connection, or the server stops.
            func waitForEnd() { while receive() != nil {} }

            func write(_ text: String) {
                Array(text.utf8).withUnsafeBytes { bytes in
                    _ = PlatformSocket.sendBytes(descriptor, bytes)
                }
            }

            /// Answers the greeting of a client; returns its first command.
            @discardableResult func greet(role: String = "master") -> [String]? {
                let hello = read()
                _ = read()
                write(
                    "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n*1\r\n$\(role.utf8.count)\r\n\(role)\r\n")
                return hello
            }

            private func receive() -> [UInt8]? {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let outcome = buffer.withUnsafeMutableBytes {
                        SystemCall.receive(descriptor, $0)
                    }
                    switch outcome {
                    case .count(let count) where count > 0: return Array(buffer.prefix(count))
                    case .count, .failed: return nil
                    case .wouldBlock: break
                    }
                    var events = [
                        pollfd(descriptor, for: Int32(POLLIN)),
                        pollfd(stop.descriptor, for: Int32(POLLIN)),
                    ]
                    SystemCall.awaitEvents(&events, milliseconds: -1)
                    if events[1].isReady { return nil }
                }
            }
        }

        let endpoint: RedisEndpoint
        private let directory = TemporaryDirectory()
        private let stop: WakePipe
        private let listener: Int32
        private let threads = Locked<[NativeThread]>([])
        private let connections = Locked(0)

        /// Starts a server; the script is called for each connection, numbered from 0.
        init(_ serve: @escaping @Sendable (Int, Peer) -> Void) throws {
            let path = directory.url("s").path
            endpoint = try RedisEndpoint("unix://" + path)
            stop = try WakePipe()
            listener = try ListeningSocket.make(boundTo: SocketAddress(path: path))
            try ListeningSocket.start(listener, backlog: 16)
            let (listener, stop, threads, connections) = (listener, stop, threads, connections)
            let acceptor = try NativeThread {
                while !stop.isFired {
                    var events = [
                        pollfd(listener, for: Int32(POLLIN)),
                        pollfd(stop.descriptor, for: Int32(POLLIN)),
                    ]
                    SystemCall.awaitEvents(&events, milliseconds: -1)
                    guard case .count(let accepted) = PlatformSocket.takeConnection(listener) else {
                        continue
                    }
                    let descriptor = Int32(accepted)
                    let number = connections.add(1) - 1
                    let thread = try? NativeThread {
                        serve(number, Peer(descriptor, stop))
                        SystemCall.release(descriptor)
                    }
                    if let thread { threads.withLock { $0.append(thread) } }
                }
            }
            threads.withLock { $0.append(acceptor) }
        }

        deinit {
            stop.fire()
            // The first is the acceptor, after whose end there are no more.
            threads.withLock { $0 }.first?.join()
            for thread in threads.withLock({ $0 }) { thread.join() }
            SystemCall.release(listener)
        }

        /// How many connections there were.
        var connectionCount: Int { connections.withLock { $0 } }
    }
#endif
