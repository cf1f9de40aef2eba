// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        // nginx on a Unix-domain socket.
        @Suite(.enabled(if: RealServer.areWanted)) struct RealSocketTests {
            @Test func `nginx on a socket serves loads at once, and is restarted between them`()
                async throws
            {
                let directory = TemporaryDirectory()
                let path = directory.url.path
                try """
                pid \(path)/nginx.pid;
                daemon off;
                error_log \(path)/errors;
                events { worker_connections 256; }
                http {
                    access_log \(path)/log;
                    client_body_temp_path \(path)/client;
                    proxy_temp_path \(path)/proxy;
                    fastcgi_temp_path \(path)/fastcgi;
                    uwsgi_temp_path \(path)/uwsgi;
                    scgi_temp_path \(path)/scgi;
                    server {
                        listen unix:\(path)/s;
                        location / { return 200 "$http_host$request_uri"; }
                    }
                }
                """.write(to: directory.url("nginx.conf"), atomically: true, encoding: .utf8)
                let configuration = DataLoaderService.Configuration()
                configuration.resolver.setAddresses(
                    ["unix:\(path)/s"], forHost: "sibling", fallsBackToDNS: false)
                let service = DataLoaderService(configuration: configuration)
                let loader = service.makeFactory().makeDataLoader()
                for round in 0..<3 {
                    // A killed nginx leaves its socket, which the next one would not replace.
                    unlink("\(path)/s")
                    let nginx = try ServerProcess(
                        ["/usr/sbin/nginx", "-p", path, "-c", "\(path)/nginx.conf"],
                        in: directory.url, log: "out")
                    // The first load is not retried: it waits until there is a connection.
                    var first = DataLoaderRequest(url: testURL("http://sibling/first"))
                    first.waitsForConnectivity = true
                    #expect(try await loader.response(for: first).statusCode == .ok)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<50 {
                            group.addTask {
                                let url = testURL("http://sibling/\(round)?n=\(number)")
                                let response = try await loader.response(
                                    for: DataLoaderRequest(url: url))
                                let text = String(decoding: response.body ?? Data(), as: UTF8.self)
                                #expect(text == "sibling/\(round)?n=\(number)")
                            }
                        }
                        try await group.waitForAll()
                    }
                    nginx.kill()
                }
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
