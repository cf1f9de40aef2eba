// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    import DataLoading
    import Foundation

    /// A real server on two ports of loopback: HTTP, and TLS with HTTP/2.
    ///
    /// `/files/` are static files. `/early` is answered before the body was read, or forbidden.
    /// `/work` goes to a second nginx, which reads the whole request and is never disturbed.
    final class RealServer: Sendable {
        enum Kind: String, CaseIterable, Codable, Sendable {
            case nginx, haproxy, apache, caddy, lighttpd
        }

        struct Failure: Error {
            let reason: String
        }

        let kind: Kind
        let site: ServerSite
        let ports: Ports
        private let behind: ServerProcess
        private let front: Locked<ServerProcess>

        init(_ kind: Kind, site: ServerSite) throws {
            self.kind = kind
            self.site = site
            let behind: ServerProcess
            let front: ServerProcess
            (ports, behind, front) = try Ports.tried { ports in
                try site.write(NginxServerSetup.behind(ports, site.path), to: "behind.conf")
                for (name, text) in kind.configuration(ports, site.path) {
                    try site.write(text, to: name)
                }
                let behind = try ServerProcess(
                    NginxServerSetup.command("behind.conf", site.path), in: site.directory,
                    log: "behind.out")
                do {
                    try behind.waitUntilListening(on: [ports.behind])
                    let front = try Self.start(kind, site)
                    try front.waitUntilListening(on: [ports.plain, ports.secure])
                    return (ports, behind, front)
                } catch {
                    behind.kill()
                    throw error
                }
            }
            self.behind = behind
            self.front = Locked(front)
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
            throw Failure(reason: "\(kind) does not listen again")
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
    }
#endif
