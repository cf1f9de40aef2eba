// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// haproxy in front of the second server, which has the files, too.
    enum HaproxyServerSetup {
        static func front(_ ports: RealServer.Ports, _ path: String) -> String {
            """
            global
                log stdout format raw local0 info
                maxconn 1000
                hard-stop-after 3s
            defaults
                mode http
                timeout connect 5s
                timeout client 30s
                timeout server 30s
                log global
                log-format "%HM %HU %ST"
            frontend front
                bind 127.0.0.1:\(ports.plain)
                bind 127.0.0.1:\(ports.secure) ssl crt \(path)/pair.pem alpn h2,http/1.1
                http-request return status 200 content-type text/plain string "early" if { path_beg /early }
                default_backend behind
            backend behind
                server behind 127.0.0.1:\(ports.behind)

            """
        }
    }
#endif
