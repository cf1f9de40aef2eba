// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// Apache as a forward proxy on two ports of loopback, plain and TLS, for the user "ada".
    final class ApacheProxy: Sendable {
        let plain: UInt16
        let secure: UInt16
        private let site: ServerSite
        private let process: ServerProcess

        init() throws {
            let site = try ServerSite()
            self.site = site
            // The password is "word".
            try site.write("ada:{SHA}PLzZCtxLGSqHpiWFC38jHK3fDrM=\n", to: "users")
            (plain, secure, process) = try RealServer.Ports.tried { ports in
                try site.write(Self.configuration(ports, site.path), to: "proxy.conf")
                let process = try ServerProcess(
                    [
                        "/usr/sbin/apache2", "-DFOREGROUND", "-d", site.path, "-f",
                        "\(site.path)/proxy.conf",
                    ], in: site.directory, log: "proxy.out")
                try process.waitUntilListening(on: [ports.plain, ports.secure])
                return (ports.plain, ports.secure, process)
            }
        }

        func stop() { process.kill() }

        /// The authority of its certificate, which is for 127.0.0.1.
        var authority: Data { get throws { try site.authority } }

        /// The lines of its log: method, URL, status, and both credentials.
        var log: [String] {
            let file = site.directory.appendingPathComponent("proxy.log")
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { String($0) }
        }

        private static func configuration(_ ports: RealServer.Ports, _ path: String) -> String {
            let modules = [
                "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic",
                "ssl", "proxy", "proxy_http", "proxy_connect",
            ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
            return """
                ServerRoot \(path)
                \(modules.joined(separator: "\n"))
                ServerName 127.0.0.1
                User www-data
                Group www-data
                PidFile \(path)/proxy.pid
                DefaultRuntimeDir \(path)
                ErrorLog \(path)/proxy.errors
                LogFormat "%m %U %s [%{Authorization}i] [%{Proxy-Authorization}i]" credentials
                CustomLog \(path)/proxy.log credentials
                Listen 127.0.0.1:\(ports.plain)
                Listen 127.0.0.1:\(ports.secure)
                StartServers 2
                ThreadsPerChild 50
                MaxRequestWorkers 200
                ProxyRequests On
                AllowCONNECT 1-65535
                SSLSessionCache none
                <Proxy "*">
                    AuthType Basic
                    AuthName "a proxy"
                    AuthBasicProvider file
                    AuthUserFile \(path)/users
                    Require valid-user
                </Proxy>
                <VirtualHost 127.0.0.1:\(ports.secure)>
                    SSLEngine on
                    SSLCertificateFile \(path)/leaf.pem
                    SSLCertificateKeyFile \(path)/leaf.key
                    ProxyRequests On
                    AllowCONNECT 1-65535
                </VirtualHost>

                """
        }
    }
#endif
