// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingTesting
    import Foundation

    /// An nginx that serves https on loopback with a certificate of a private authority.
    ///
    /// Its responses name the connection, protocol and host of each request.
    final class NginxServer: Sendable {
        /// Whether nginx and openssl are installed; continuous integration installs them.
        static let isInstalled = executable != nil && run("command -v openssl") == 0

        let port: UInt16
        private let temporary = TemporaryDirectory()
        private var directory: URL { temporary.url }

        /// The content of `/big` and, at 16 MiB a second, `/slow`: 8 MiB of numbered lines.
        static let big = Data((0..<1_048_576).flatMap { NginxServer.line($0).utf8 })

        /// Starts a server that ends a connection after this many requests, in HTTP/2 by a GOAWAY.
        init(requestsPerConnection: Int = 1_000) throws {
            try temporary.write(Self.big, to: "big")
            guard Self.run(Self.certificates, in: temporary.url) == 0 else {
                throw Failure.openssl
            }
            // Another process may take a port before nginx does.
            for _ in 0..<3 {
                let reservation = try LoopbackServer { _ in .ok() }
                let port = reservation.port
                reservation.stop()
                try Self.configuration(
                    port: port, directory: temporary.url.path, requests: requestsPerConnection
                ).write(
                    to: temporary.url("nginx.conf"), atomically: true, encoding: .utf8)
                // It returns when the daemon listens.
                if Self.run(Self.command(in: temporary.url), in: temporary.url) == 0 {
                    self.port = port
                    return
                }
            }
            throw Failure.nginx
        }

        deinit {
            // nginx removes its files while it exits, which `rm` tolerates.
            let command = Self.command(in: directory)
            _ = Self.run("\(command) -s stop; rm -rf '\(directory.path)'", in: directory)
        }

        /// The certificate of the authority, in PEM form.
        var authority: Data {
            get throws { try Data(contentsOf: directory.appendingPathComponent("ca.pem")) }
        }

        /// The digest of the server's public key in the form of a pin.
        var pin: String {
            get throws {
                try String(
                    contentsOf: directory.appendingPathComponent("pin"), encoding: .utf8
                ).trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }

        enum Failure: Error {
            case openssl, nginx
        }

        private static func line(_ number: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: 7 - digits.count) + digits + "\n"
        }

        private static func command(in directory: URL) -> String {
            "\(executable ?? "nginx") -p \(directory.path) -c nginx.conf -e error.log"
        }

        private static let executable = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        private static let certificates = """
            set -e
            exec 2>openssl.log
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj '/CN=An authority of a test'
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -out leaf.csr -subj /CN=origin.test
            echo 'subjectAltName=DNS:origin.test' > extensions
            openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -extfile extensions -out leaf.pem
            openssl x509 -in leaf.pem -noout -pubkey | openssl pkey -pubin -outform der \
                | openssl dgst -sha256 -binary | openssl base64 > pin
            """

        private static func configuration(
            port: UInt16, directory: String, requests: Int
        ) -> String {
            """
            pid \(directory)/nginx.pid;
            worker_processes 1;
            events { worker_connections 256; }
            http {
                access_log off;
                client_body_temp_path \(directory)/client;
                proxy_temp_path \(directory)/proxy;
                fastcgi_temp_path \(directory)/fastcgi;
                uwsgi_temp_path \(directory)/uwsgi;
                scgi_temp_path \(directory)/scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    keepalive_requests \(requests);
                    ssl_certificate leaf.pem;
                    ssl_certificate_key leaf.key;
                    location = /big { root \(directory); }
                    location = /slow { alias \(directory)/big; limit_rate 16m; }
                    location / {
                        add_header X-Connection $connection;
                        return 200 "$server_protocol $ssl_server_name $http_host";
                    }
                }
            }
            """
        }

        /// A daemon that inherited the descriptor would hide the exit of its parent from `Process`.
        private static let closeDescriptors = """
            for open in /proc/$$/fd/*; do
                number=${open##*/}
                if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
            done

            """

        private static func run(_ script: String, in directory: URL? = nil) -> Int32 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = ["-c", closeDescriptors + script]
            process.currentDirectoryURL = directory
            process.standardOutput = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return -1 }
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
#endif
