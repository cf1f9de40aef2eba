// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        @Suite struct CurlTransportTests {
            private let transport = CurlTransport()

            @Test func `a body is loaded with its head, and the report counts what was sent`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("hello", headers: ["X-A": "1"]) }
                var attempt = TransportRequest(url: server.url("/a?b=c"))
                attempt.headers = ["X-Sent": "yes", "X-Empty": ""]
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.head?.status == .ok)
                #expect(record.head?.headers["x-a"] == "1")
                #expect(record.text == "hello")
                #expect(record.endings == 1)
                let request = await server.waitForRequests(1)[0]
                #expect(request.target == "/a?b=c")
                #expect(request.headers["X-Sent"] == "yes")
                #expect(request.headers.values(for: "X-Empty") == [""])
                #expect(record.report.headBytesSent == Int64(request.rawHead.count))
                #expect(record.report.bodyBytesReceived == 5)
                #expect(record.report.decodedBytes == 5)
                await transport.reset()
                let connection = await server.waitForClosedConnections(1)[0]
                #expect(record.report.headBytesReceived == connection.bytesSent - 5)
                #expect(record.report.remoteAddress == "127.0.0.1")
                #expect(record.report.httpVersion == "1.1")
                #expect(record.report.reusedConnection == false)
                #expect(record.report.connectTime != nil)
                #expect(record.report.tlsTime == nil)
                #expect(record.report.firstByteTime != nil)
            }

            @Test func `a path is sent as it was written, on a new and on a kept connection`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok() }
                let targets = ["/a/../b/./c%2F%20d?e=%7e", "/a%2e%2e/../b?/../x", "/?", "/"]
                for target in targets {
                    let record = await transport.get(server.url(target))
                    #expect(record.error == nil)
                }
                for (request, target) in zip(await server.waitForRequests(4), targets) {
                    #expect(request.target == target)
                }
                #expect(server.connectionCount == 1)
            }

            @Test func `no field is sent that was not requested`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                _ = await transport.get(server.url())
                var post = TransportRequest(method: .post, url: server.url())
                _ = await transport.run(post)
                post.body = .data(Data("x".utf8))
                _ = await transport.run(post)
                let requests = await server.waitForRequests(3)
                let names = requests.map { $0.headers.fields.map(\.name) }
                #expect(names[0] == ["Host", "Accept", "Accept-Encoding"])
                #expect(names[1] == ["Host", "Accept", "Accept-Encoding", "Content-Length"])
                #expect(names[2] == names[1])
                #expect(requests[1].headers["Content-Length"] == "0")
                #expect(requests[2].text == "x")
            }

            @Test(arguments: [
                HTTPMethod.put, .patch, .delete, .options, HTTPMethod(rawValue: "PURGE"),
            ])
            func `any method is sent`(method: HTTPMethod) async throws {
                let server = try LoopbackServer { _ in .ok("done") }
                let record = await transport.run(
                    TransportRequest(method: method, url: server.url()))
                #expect(record.text == "done")
                #expect(await server.waitForRequests(1)[0].method == method)
            }

            @Test func `the Content-Length of a HEAD response is not a body`() async throws {
                let server = try LoopbackServer { _ in .ok("hello") }
                let attempt = TransportRequest(method: .head, url: server.url())
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.head?.headers["Content-Length"] == "5")
                #expect(record.body.isEmpty)
                #expect(await transport.get(server.url()).text == "hello")
                #expect(server.connectionCount == 1)
            }

            @Test func `a connection is reused, unless a fresh one is requested`() async throws {
                let server = try LoopbackServer { _ in .ok("a") }
                _ = await transport.get(server.url())
                let second = await transport.get(server.url())
                #expect(second.report.reusedConnection)
                #expect(second.report.connectTime == nil)
                var attempt = TransportRequest(url: server.url())
                attempt.needsFreshConnection = true
                #expect(await transport.run(attempt).report.reusedConnection == false)
                #expect(server.connectionCount == 2)
            }

            @Test func `two hundred attempts run at once`() async throws {
                let server = try LoopbackServer { request in .ok(.text(request.target)) }
                await withTaskGroup(of: (Int, AttemptRecorder.Record).self) { group in
                    for number in 0..<200 {
                        group.addTask { (number, await transport.get(server.url("/\(number)"))) }
                    }
                    for await (number, record) in group {
                        #expect(record.text == "/\(number)")
                        #expect(record.endings == 1)
                    }
                }
            }

            // Swift considers the first two texts equal, and field names equal whatever their case.
            @Test func `each attempt sends its own bytes, whatever was sent before`() async throws {
                let server = try LoopbackServer { _ in .ok() }
                let fields = [
                    ("X-Key", "caf\u{E9}"), ("X-Key", "cafe\u{301}"), ("x-key", "cafe\u{301}"),
                ]
                for (name, value) in fields {
                    var attempt = TransportRequest(url: server.url())
                    attempt.headers.add(value, for: name)
                    _ = await transport.run(attempt)
                }
                let requests = await server.waitForRequests(fields.count)
                for (request, field) in zip(requests, fields) {
                    let sent = request.headers.fields.first { $0.isNamed("X-Key") }
                    #expect(sent?.name == field.0)
                    #expect(sent?.value.utf8.elementsEqual(field.1.utf8) == true)
                }
            }

            @Test func `only the final head is delivered, and every head and trailer is counted`()
                async throws
            {
                let server = try LoopbackServer { _ in
                    .chunked(["one", "two"], trailers: ["X-Sum": "6"])
                        .preceded(
                            by: .head(100), .head(103, headers: ["Link": "</a>"]))
                }
                let record = await transport.get(server.url())
                #expect(record.head?.status == .ok)
                #expect(record.head?.headers["Link"] == nil)
                #expect(record.head?.headers["X-Sum"] == nil)
                #expect(record.text == "onetwo")
                let plain = try LoopbackServer { _ in .chunked(["one", "two"]) }
                let other = await transport.get(plain.url())
                let extra = record.report.headBytesReceived - other.report.headBytesReceived
                #expect(extra > "HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 \r\nLink: </a>\r\n".utf8.count)
            }
        }
    }
#endif
