// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// Caddy, reconfigured through its administration socket.
    enum CaddyServerSetup {
        static func front(_ ports: RealServer.Ports, _ path: String) -> String {
            """
            {
                admin unix/\(path)/admin.sock
                storage file_system \(path)/caddy
                auto_https off
                grace_period 3s
                servers {
                    protocols h1 h2
                }
            }
            (site) {
                bind 127.0.0.1
                root * \(path)/www
                log {
                    output file \(path)/front.log {
                        roll_disabled
                    }
                }
                handle /early* {
                    respond "early" 200
                }
                handle /work* {
                    reverse_proxy 127.0.0.1:\(ports.behind) {
                        # Caddy 2.6.2 may die of a 100 that comes when the client has gone.
                        header_up -Expect
                    }
                }
                handle {
                    file_server
                }
            }
            http://:\(ports.plain) {
                import site
            }
            https://:\(ports.secure) {
                tls \(path)/leaf.pem \(path)/leaf.key
                import site
            }

            """
        }
    }
#endif
