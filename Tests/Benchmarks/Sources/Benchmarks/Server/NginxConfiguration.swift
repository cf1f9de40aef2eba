// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What nginx is told: a static body, and places that answer a POST and swallow an upload.
struct NginxConfiguration {
    let ports: [UInt16]
    let directory: String
    let certificate: Certificate?
    /// Whether the body is sent from the file at once, so that the server is not the limit.
    let isLarge: Bool

    var text: String {
        // A worker started by root drops its rights and could not read the body.
        let user = getuid() == 0 ? "user root;" : ""
        return """
            \(user)
            daemon off;
            worker_processes 1;
            pid \(directory)/pid;
            error_log \(directory)/error.log crit;
            events { worker_connections 4096; }
            http {
                access_log off;
                client_body_temp_path \(directory)/client;
                proxy_temp_path \(directory)/proxy;
                fastcgi_temp_path \(directory)/fastcgi;
                uwsgi_temp_path \(directory)/uwsgi;
                scgi_temp_path \(directory)/scgi;
                keepalive_requests 1000000000;
                keepalive_timeout 600s;
                client_max_body_size 0;
                open_file_cache max=16;
                sendfile \(isLarge ? "on" : "off");
                server {
                    \(listens)
                    root \(directory);
                    location /posted { return 200 "\(String(repeating: "x", count: 1_024))"; }
                    location /uploaded {
                        proxy_method GET;
                        proxy_pass_request_body off;
                        proxy_set_header Content-Length "";
                        proxy_pass http://127.0.0.1:\(ports[0])/posted;
                    }
                }
            }
            """
    }

    private var listens: String {
        let way = certificate == nil ? "" : "ssl http2 "
        let lines = ports.map { "listen 127.0.0.1:\($0) \(way)backlog=4096;" }
        guard let certificate else { return lines.joined(separator: " ") }
        let files = [
            "ssl_certificate \(certificate.chain);", "ssl_certificate_key \(certificate.key);",
            "http2_max_concurrent_streams 1024;",
        ]
        return (lines + files).joined(separator: " ")
    }
}
