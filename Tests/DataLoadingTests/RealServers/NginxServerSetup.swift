// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Glibc

    /// nginx, as the server under test and as the second server behind each of them.
    ///
    /// It allows 50 requests per connection, which ends with a GOAWAY over HTTP/2.
    enum NginxServerSetup {
        static func command(_ file: String, _ path: String) -> [String] {
            ["/usr/sbin/nginx", "-p", path, "-c", file, "-e", "\(file).errors"]
        }

        static func front(_ ports: RealServer.Ports, _ path: String) -> String {
            configuration(
                "front", path,
                """
                keepalive_requests 50;
                # Bodies stay in memory.
                client_body_buffer_size 4m;
                gzip on;
                gzip_types text/plain;
                server {
                    listen 127.0.0.1:\(ports.plain);
                    listen 127.0.0.1:\(ports.secure) ssl http2;
                    ssl_certificate leaf.pem;
                    ssl_certificate_key leaf.key;
                    root \(path)/www;
                    location /early { return 200 "early"; }
                    location /work {
                        proxy_pass http://127.0.0.1:\(ports.behind);
                        proxy_next_upstream off;
                    }
                }
                """)
        }

        static func behind(_ ports: RealServer.Ports, _ path: String) -> String {
            configuration(
                "behind", path,
                """
                keepalive_requests 100000;
                client_body_buffer_size 4m;
                server {
                    listen 127.0.0.1:\(ports.behind);
                    root \(path)/www;
                    # What is handed on has been read; `return` alone would answer before that.
                    location /work {
                        proxy_pass http://127.0.0.1:\(ports.behind)/done;
                        proxy_next_upstream off;
                    }
                    location /done {
                        access_log off;
                        return 200 "worked";
                    }
                }
                """)
        }

        private static func configuration(
            _ name: String, _ path: String, _ servers: String
        ) -> String {
            // Only root can set the user of the workers, which must read root's files.
            """
            daemon off;
            pid \(path)/\(name).pid;
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 2;
            worker_shutdown_timeout 3s;
            events { worker_connections 512; }
            http {
                log_format numbers '$request_method $request_uri $status $msec $request_time '
                    '$remote_port $connection $connection_requests $request_length';
                access_log \(path)/\(name).log numbers;
                client_max_body_size 64m;
                client_body_temp_path \(path)/\(name)-client;
                proxy_temp_path \(path)/\(name)-proxy;
                fastcgi_temp_path \(path)/\(name)-fastcgi;
                uwsgi_temp_path \(path)/\(name)-uwsgi;
                scgi_temp_path \(path)/\(name)-scgi;
                default_type application/octet-stream;
                types { text/plain txt; }
                \(servers)
            }
            """
        }
    }
#endif
