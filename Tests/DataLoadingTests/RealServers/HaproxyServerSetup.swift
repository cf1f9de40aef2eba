// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// haproxy in front of the second server, which also serves the files.
    ///
    /// Over HTTP/2 it must read a byte of a body before it answers early. haproxy 2.6.12 does not
    /// count the bytes of a body after the answer in the connection's window, which it opens with
    /// the first byte that it reads of any body. When the first body on a connection filled that
    /// window after its answer, no later body could be sent: another client also got a 504, and
    /// the log showed no byte of its body. RFC 9113 section 5.1 requires such frames to be counted.
    ///
    /// Its timeouts are longer than those of a load, so that they do not end a stuck load.
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
                timeout client 60s
                timeout server 60s
                log global
                # How it ended, times, bytes that came and went, the version.
                log-format "%HM %HU %ST %tsc %TR/%Tw/%Tc/%Tr/%Ta %U/%B %HV"
            frontend front
                bind 127.0.0.1:\(ports.plain)
                bind 127.0.0.1:\(ports.secure) ssl crt \(path)/pair.pem alpn h2,http/1.1
                http-request wait-for-body time 5s at-least 1 if { path_beg /early } { fc_http_major 2 }
                http-request return status 200 content-type text/plain string "early" if { path_beg /early }
                default_backend behind
            backend behind
                server behind 127.0.0.1:\(ports.behind)

            """
        }
    }
#endif
