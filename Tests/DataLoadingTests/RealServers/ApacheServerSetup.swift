// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// Apache with its event module, limited to 50 requests per connection.
    enum ApacheServerSetup {
        private static let modules = [
            "mpm_event", "authz_core", "ssl", "http2", "rewrite", "proxy", "proxy_http",
        ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
            .joined(separator: "\n")

        static func front(_ ports: RealServer.Ports, _ path: String) -> String {
            """
            ServerRoot \(path)
            \(modules)
            ServerName 127.0.0.1
            User www-data
            Group www-data
            PidFile \(path)/front.pid
            DefaultRuntimeDir \(path)
            ErrorLog \(path)/front.errors
            # When it began, how long it took, process, port, stream, and its number on the connection.
            LogFormat "%m %U%q %s %{begin:usec}t %D %P %{remote}p %{H2_STREAM_TAG}e %k %L" numbers
            CustomLog \(path)/front.log numbers
            Listen 127.0.0.1:\(ports.plain)
            Listen 127.0.0.1:\(ports.secure)
            StartServers 2
            ThreadsPerChild 50
            MaxRequestWorkers 200
            MaxKeepAliveRequests 50
            GracefulShutdownTimeout 3
            DocumentRoot \(path)/www
            <Directory \(path)/www>
                Require all granted
            </Directory>
            RewriteEngine On
            RewriteRule ^/early - [R=204,L]
            ProxyPass /work http://127.0.0.1:\(ports.behind)/work disablereuse=on
            SSLSessionCache none
            <VirtualHost 127.0.0.1:\(ports.secure)>
                SSLEngine on
                SSLCertificateFile \(path)/leaf.pem
                SSLCertificateKeyFile \(path)/leaf.key
                Protocols h2 http/1.1
                RewriteEngine On
                RewriteRule ^/early - [R=204,L]
            </VirtualHost>

            """
        }
    }
#endif
