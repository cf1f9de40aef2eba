// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingFleet
    import DataLoadingSockets
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    /// A real Redis, or a Valkey under its name, on a Unix-domain socket in a directory of its own.
    final class RedisServer: Sendable {
        /// Whether it is installed; continuous integration installs it.
        static let isInstalled = executable != nil

        /// `REDIS_SERVER` in the environment is the path of another one, which then is used alone.
        private static let executable =
            (ProcessInfo.processInfo.environment["REDIS_SERVER"].map { [$0] }
            ?? ["/usr/bin/redis-server", "/usr/bin/valkey-server"])
            .first { FileManager.default.isExecutableFile(atPath: $0) }

        struct NotStarted: Error {}

        let endpoint: RedisEndpoint
        /// The port, with TLS if the server has that; 0 without.
        let port: UInt16
        let directory: TemporaryDirectory
        private let arguments: [String]
        private let process: Locked<ServerProcess?>

        var socket: String { directory.url("s").path }

        /// Starts a server with further arguments.
        init(
            _ arguments: [String] = [], port: UInt16 = 0,
            directory: TemporaryDirectory = TemporaryDirectory()
        ) throws {
            self.directory = directory
            self.port = port
            self.arguments = arguments
            process = Locked(nil)
            endpoint = try RedisEndpoint("unix://" + directory.url("s").path)
            try start()
        }

        /// Starts a server with TLS on a port of 127.0.0.1, for "localhost".
        static func secure(
            certificate: TestCertificate, authority: TestCertificate, requiresClients: Bool = false
        ) throws -> RedisServer {
            let directory = TemporaryDirectory()
            try directory.write(certificate.pem, to: "leaf.pem")
            try directory.write(certificate.keyPEM(), to: "leaf.key")
            try directory.write(authority.pem, to: "ca.pem")
            let arguments = [
                "--tls-cert-file", "leaf.pem", "--tls-key-file", "leaf.key", "--tls-ca-cert-file",
                "ca.pem", "--tls-auth-clients", requiresClients ? "yes" : "no",
            ]
            return try withPort("--tls-port", arguments, in: directory)
        }

        /// Starts a server on a port of 127.0.0.1 too, at which a replica follows at once.
        static func withPort() throws -> RedisServer {
            try withPort(
                "--port", ["--repl-diskless-sync-delay", "0"], in: TemporaryDirectory())
        }

        private static func withPort(
            _ option: String, _ arguments: [String], in directory: TemporaryDirectory
        ) throws -> RedisServer {
            // Another process may take a port before the server does.
            for _ in 0..<3 {
                let reservation = try LoopbackServer { _ in .ok() }
                let port = reservation.port
                reservation.stop()
                let all = ["--bind", "127.0.0.1", option, "\(port)"] + arguments
                if let server = try? RedisServer(all, port: port, directory: directory) {
                    return server
                }
            }
            throw NotStarted()
        }

        deinit {
            process.withLock { $0.take() }?.kill()
        }

        /// Starts it again after `kill`; what it held is lost.
        func start() throws {
            try? FileManager.default.removeItem(atPath: socket)
            let command =
                [
                    Self.executable ?? "", "--port", "0", "--unixsocket", "s", "--save", "",
                    "--appendonly", "no",
                ] + arguments
            let started = try ServerProcess(command, in: directory.url, log: "redis.log")
            process.withLock { $0 = started }
            let address = try SocketAddress(path: socket)
            let end = ContinuousClock.now + .seconds(60)
            while !Self.accepts(address) {
                guard !started.isGone, ContinuousClock.now < end else { throw NotStarted() }
                usleep(2_000)
            }
        }

        func kill() { process.withLock { $0.take() }?.kill() }

        func signal(_ number: Int32) { process.withLock { $0 }?.signal(number) }

        private static func accepts(_ address: SocketAddress) -> Bool {
            guard let descriptor = try? PlatformSocket.make(family: address.family) else {
                return false
            }
            defer { SystemCall.release(descriptor) }
            return address.withPointer { connect(descriptor, $0, $1) } == 0
        }
    }
#endif
