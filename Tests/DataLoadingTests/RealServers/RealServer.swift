// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import DataLoadingTesting
    import Foundation

    /// A real server on two ports of loopback: HTTP, and TLS with HTTP/2.
    ///
    /// `/files/` are static files. `/early` is answered before the body was read, or forbidden.
    /// `/work` goes to a second nginx, which reads the whole request and is never disturbed.
    final class RealServer: Sendable {
        enum Kind: String, CaseIterable, Codable, Sendable {
            case nginx, haproxy, apache, caddy, lighttpd
        }

        /// The ports of plain HTTP, of TLS and of the second server.
        struct Ports: Sendable {
            var plain: UInt16
            var secure: UInt16
            var behind: UInt16

            /// Three ports that were free just now.
            init() throws {
                let reservations = try (0..<3).map { _ in try LoopbackServer { _ in .ok() } }
                plain = reservations[0].port
                secure = reservations[1].port
                behind = reservations[2].port
                for reservation in reservations { reservation.stop() }
            }
        }

        enum Failure: Error {
            case doesNotListen(String)
        }

        let kind: Kind
        let site: ServerSite
        let ports: Ports
        private let behind: ServerProcess
        private let front: Locked<ServerProcess>

        init(_ kind: Kind, site: ServerSite) throws {
            self.kind = kind
            self.site = site
            let ports = try Ports()
            self.ports = ports
            try site.write(NginxServerSetup.behind(ports, site.path), to: "behind.conf")
            for (name, text) in kind.configuration(ports, site.path) {
                try site.write(text, to: name)
            }
            behind = try ServerProcess(
                NginxServerSetup.command("behind.conf", site.path), in: site.directory,
                log: "behind.out")
            front = Locked(try Self.start(kind, site))
            for port in [ports.behind, ports.plain, ports.secure] {
                guard Self.waitUntilListening(port, within: 60) else {
                    stop()
                    throw Failure.doesNotListen("\(kind) on \(port)")
                }
            }
        }

        /// Loads a new configuration or the same one again, and lets running requests end.
        func reload() {
            front.withLock { $0 }.reload(kind, site)
        }

        /// Kills one of its workers, or all of it if it has none or would not replace them.
        func killWorker() throws {
            switch kind {
            case .nginx, .apache: front.withLock { $0 }.killWorker()
            case .haproxy, .caddy, .lighttpd: try restart()
            }
        }

        /// Kills all of it and starts it again.
        func restart() throws {
            front.withLock { $0 }.kill()
            // Its workers may exit later than it and hold the port until then.
            while Self.listens(ports.secure) || Self.listens(ports.plain) { usleep(1_000) }
            for _ in 0..<20 {
                let process = try Self.start(kind, site)
                front.withLock { $0 = process }
                while !process.isGone {
                    if Self.listens(ports.secure), Self.listens(ports.plain) { return }
                    usleep(2_000)
                }
            }
            throw Failure.doesNotListen("\(kind) again")
        }

        /// Starts it again if it has crashed; returns true if it had.
        func revive() throws -> Bool {
            guard front.withLock({ $0.isGone }) else { return false }
            try restart()
            return true
        }

        func stop() {
            front.withLock { $0 }.kill()
            behind.kill()
        }

        /// What its log and the log of the second server contain about each POST.
        var logs: (front: [Int: [String]], behind: [Int: [String]]) {
            (site.posts(in: "front.log"), site.posts(in: "behind.log"))
        }

        private static func start(_ kind: Kind, _ site: ServerSite) throws -> ServerProcess {
            // haproxy logs to its standard output.
            try ServerProcess(
                kind.command(site.path), in: site.directory,
                log: kind == .haproxy ? "front.log" : "front.out")
        }

        static func waitUntilListening(_ port: UInt16, within seconds: Int) -> Bool {
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end {
                if listens(port) { return true }
                usleep(2_000)
            }
            return false
        }

        private static func listens(_ port: UInt16) -> Bool {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
    }
#endif
