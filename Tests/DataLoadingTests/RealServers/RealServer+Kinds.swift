// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    extension RealServer.Kind {
        private var executable: String {
            switch self {
            case .nginx: "/usr/sbin/nginx"
            case .haproxy: "/usr/sbin/haproxy"
            case .apache: "/usr/sbin/apache2"
            case .caddy: "/usr/bin/caddy"
            case .lighttpd: "/usr/sbin/lighttpd"
            }
        }

        /// Whether the server is installed; continuous integration installs it.
        var isInstalled: Bool {
            [executable, "/usr/sbin/nginx", "/usr/bin/openssl"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: $0)
            }
        }

        /// The response to a request of `/early` that is not forbidden.
        var earlyAnswer: String { self == .apache ? "" : "early" }

        /// The command that starts it in the foreground.
        func command(_ path: String) -> [String] {
            switch self {
            case .nginx: NginxServerSetup.command("front.conf", path)
            // A master, which is told to reload, and its worker.
            case .haproxy: [executable, "-W", "-f", "front.conf"]
            case .apache: [executable, "-DFOREGROUND", "-d", path, "-f", "\(path)/front.conf"]
            case .caddy: [executable, "run", "--config", "front.conf", "--adapter", "caddyfile"]
            case .lighttpd: [executable, "-D", "-f", "front.conf"]
            }
        }

        /// Its configuration files by name.
        func configuration(_ ports: RealServer.Ports, _ path: String) -> [(String, String)] {
            let text =
                switch self {
                case .nginx: NginxServerSetup.front(ports, path)
                case .haproxy: HaproxyServerSetup.front(ports, path)
                case .apache: ApacheServerSetup.front(ports, path)
                case .caddy: CaddyServerSetup.front(ports, path)
                case .lighttpd: LighttpdServerSetup.front(ports, path)
                }
            return [("front.conf", text)]
        }
    }

    extension ServerProcess {
        /// Reloads the server while running requests end; its connections get a limited time.
        func reload(_ kind: RealServer.Kind, _ site: ServerSite) {
            switch kind {
            case .nginx: signal(SIGHUP)
            case .haproxy: signal(SIGUSR2)
            case .apache, .lighttpd: signal(SIGUSR1)
            case .caddy:
                let reload = try? ServerProcess(
                    [
                        "/usr/bin/caddy", "reload", "--force", "--config", "front.conf",
                        "--adapter", "caddyfile", "--address", "unix/\(site.path)/admin.sock",
                    ], in: site.directory, log: "reload.out")
                while reload?.isGone == false { usleep(2_000) }
                // Its watcher process would wait for the end of the test.
                reload?.signal(SIGKILL, toAll: true)
            }
        }
    }
#endif
