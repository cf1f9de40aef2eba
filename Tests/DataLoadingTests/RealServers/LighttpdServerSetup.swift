// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// lighttpd, limited to 50 requests and 8 concurrent streams per connection.
    ///
    /// Its log goes through a pipe, because only a pipe is written line by line.
    enum LighttpdServerSetup {
        static func front(_ ports: RealServer.Ports, _ path: String) -> String {
            """
            server.document-root = "\(path)/www"
            server.bind = "127.0.0.1"
            server.port = \(ports.plain)
            server.modules = ("mod_access", "mod_accesslog", "mod_openssl", "mod_proxy")
            server.max-keep-alive-requests = 50
            server.errorlog = "\(path)/front.errors"
            server.upload-dirs = ("\(path)")
            server.feature-flags += (
                "server.graceful-shutdown-timeout" => 3, "server.graceful-restart-bg" => "enable"
            )
            accesslog.filename = "|/usr/bin/tee -a \(path)/front.log"
            accesslog.format = "%r %s"
            mimetype.assign = (".txt" => "text/plain", "" => "application/octet-stream")
            $SERVER["socket"] == "127.0.0.1:\(ports.secure)" {
                ssl.engine = "enable"
                ssl.pemfile = "\(path)/leaf.pem"
                ssl.privkey = "\(path)/leaf.key"
            }
            $HTTP["url"] =~ "^/early" { url.access-deny = ("") }
            $HTTP["url"] =~ "^/work" {
                proxy.server = ("" => (("host" => "127.0.0.1", "port" => \(ports.behind))))
            }

            """
        }
    }
#endif
