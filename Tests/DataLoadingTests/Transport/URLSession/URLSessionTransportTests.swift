// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    @testable import DataLoadingURLSession
    @testable import DataLoadingTransport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension SocketTests {
        @Suite struct URLSessionTransportTests {
            private let transport = URLSessionTransport()

            @Test func `a body is loaded with its head`() async throws {
                let server = try LoopbackServer { _ in .ok("hello", headers: ["X-A": "1"]) }
                var attempt = TransportRequest(url: server.url("/a?b=c"))
                attempt.headers = ["X-Sent": "yes"]
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.head?.status == .ok)
                #expect(record.head?.headers["x-a"] == "1")
                #expect(record.text == "hello")
                #expect(record.endings == 1)
                #expect(record.late == 0)
                #expect(record.report.decodedBytes == 5)
                #expect(record.report.firstByteTime != nil)
                let request = await server.waitForRequests(1)[0]
                #expect(request.target == "/a?b=c")
                #expect(request.headers["X-Sent"] == "yes")
            }

            @Test func `a body in memory is sent`() async throws {
                let server = try LoopbackServer { .ok(.data($0.body)) }
                var attempt = TransportRequest(method: .post, url: server.url())
                attempt.body = .encoded(Data("hello".utf8), contentType: "text/plain")
                attempt.headers = ["Content-Type": "text/plain"]
                let record = await transport.run(attempt)
                #expect(record.text == "hello")
                #expect(record.report.bodyBytesSent == 5)
                let request = await server.waitForRequests(1)[0]
                #expect(request.method == .post)
                #expect(request.headers["Content-Length"] == "5")
                #expect(request.headers["Content-Type"] == "text/plain")
            }

            @Test func `a stream is sent`() async throws {
                let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
                let server = try LoopbackServer { .ok(.data($0.body)) }
                var attempt = TransportRequest(method: .put, url: server.url())
                attempt.body = .stream { InputStream(data: bytes) }
                let record = await transport.run(attempt)
                #expect(record.error == nil)
                #expect(record.body == bytes)
            }

            @Test func `a stream that is too short fails, and its request is never complete`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok() }
                var attempt = TransportRequest(method: .put, url: server.url())
                attempt.body = .stream(length: 10) { InputStream(data: Data("short".utf8)) }
                let record = await transport.run(attempt)
                #expect(
                    record.error == .requestBody(reason: "shorter than its declared length"))
                #expect(server.requests.allSatisfy { !$0.isComplete })
            }

            @Test(arguments: [301, 302, 303, 307, 308])
            func `a redirect is left to the caller`(status: Int) async throws {
                let server = try LoopbackServer { request in
                    request.target == "/"
                        ? .status(status, headers: ["Location": "/elsewhere"]) : .ok("wrong")
                }
                let record = await transport.get(server.url())
                #expect(record.head?.status.rawValue == status)
                #expect(record.head?.headers["Location"] == "/elsewhere")
                #expect(record.error == nil)
                #expect(server.requests.count == 1)
            }

            @Test(arguments: ["", "http://[::bad/c"])
            func `a redirect without a valid target is delivered`(location: String) async throws {
                let server = try LoopbackServer { _ in
                    .status(302, headers: ["Location": location])
                }
                let record = await transport.get(server.url())
                #expect(record.head?.status.rawValue == 302)
                #expect(record.head?.headers["Location"] == location)
                #expect(record.endings == 1)
            }

            @Test func `a 401 with a challenge is delivered`() async throws {
                let server = try LoopbackServer { _ in
                    .status(401, headers: ["WWW-Authenticate": "Basic realm=\"a\""], body: "who?")
                }
                let record = await transport.get(server.url())
                #expect(record.head?.status.rawValue == 401)
                #expect(record.text == "who?")
                #expect(record.error == nil)
                #expect(record.endings == 1)
                #expect(await transport.get(server.url()).text == "who?")
            }

            @Test func `an informational head is not delivered, only the final one`() async throws {
                let server = try LoopbackServer { _ in
                    .ok("a").preceded(by: .head(103, headers: ["Link": "</a>"]))
                }
                let record = await transport.get(server.url())
                #expect(record.head?.headers["Link"] == nil)
                #expect(record.head?.status == .ok)
                #expect(record.text == "a")
            }

            @Test func `each failure is mapped to its error`() async throws {
                let refused = try #require(URL(string: "http://127.0.0.1:1/"))
                let record = await transport.get(refused)
                #expect(record.error == .connectRefused)
                #expect(record.failure?.sent == .nothingWritten)
                // Only the first attempt of a session is certain to have sent nothing.
                let unknown = await URLSessionTransport().get(try .host("nothing.invalid"))
                #expect(unknown.error == .dns)
                #expect(unknown.failure?.sent == .nothingWritten)
                let silent = try LoopbackServer(script: .close)
                let noResponse = await transport.get(silent.url())
                #expect(noResponse.error == .noResponse || noResponse.error == .connectionReset)
                #expect(noResponse.failure?.sent == .written)
                let server = try LoopbackServer { _ in .truncated("abc", declaring: 10) }
                let truncated = await transport.get(server.url())
                #expect(truncated.error == .truncatedBody)
                #expect(truncated.failure?.sent == .headReceived)
                let garbage = try LoopbackServer { _ in .raw("SSH-2.0-x\r\n\r\n") }
                #expect(await transport.get(garbage.url()).error == .framing(reason: "not HTTP"))
                let reset = try LoopbackServer { _ in
                    .steps(.bytes("HTTP/1.1 2"), .flush, .reset)
                }
                #expect(await transport.get(reset.url()).error == .connectionReset)
            }

            @Test func `an attempt through a proxy is refused`() async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                var attempt = TransportRequest(url: server.url())
                attempt.proxy = try Proxy("http://127.0.0.1:\(server.port)", directHosts: [])
                attempt.proxyAuthorization = "Basic a"
                let record = await transport.run(attempt)
                #expect(record.error?.name == "unsupported")
                #expect(record.failure?.sent == .nothingWritten)
                #expect(server.connectionCount == 0)
                attempt.proxy = nil
                attempt.address = "unix:/run/a.sock"
                #expect(await transport.run(attempt).error?.name == "unsupported")
            }

            @Test(arguments: ["A: \0", "no colon", "Content-Length: -5"])
            func `a malformed head is refused`(field: String) async throws {
                let server = try LoopbackServer { _ in
                    .raw(.text("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n"))
                }
                let record = await transport.get(server.url())
                #expect(record.error == .framing(reason: "header"))
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

            @Test func `a body past its limit is refused, declared or not`() async throws {
                let server = try LoopbackServer { request in
                    request.target == "/chunked"
                        ? .chunked([.pattern(2_000)]) : .ok(.pattern(2_000))
                }
                for target in ["/chunked", "/declared"] {
                    var attempt = TransportRequest(url: server.url(target))
                    attempt.bodyLimit = 1_999
                    let record = await transport.run(attempt)
                    #expect(record.error == .bodyTooLarge(limit: 1_999))
                    #expect(record.endings == 1)
                    attempt.bodyLimit = 2_000
                    #expect(await transport.run(attempt).byteCount == 2_000)
                }
            }

            #if canImport(FoundationNetworking)
                @Test func `the check finds only that a reset keeps connections`() async {
                    let error = await #expect(throws: ContractViolations.self) {
                        try await checkTransport(transport, limit: .seconds(60))
                    }
                    #expect(
                        error?.violations == [
                            "After reset() the transport still uses a connection from before."
                        ])
                }
            #endif

            @Test func `a head past its limit is refused`() async throws {
                let server = try LoopbackServer { _ in
                    .ok(headers: ["X-Long": String(repeating: "a", count: 3_000)])
                }
                var attempt = TransportRequest(url: server.url())
                attempt.headLimit = 2_000
                #expect(await transport.run(attempt).error == .headTooLarge)
                // One line past libcurl's limit, which it reports as a lack of memory.
                let large = try LoopbackServer { _ in
                    .ok(headers: ["X-Long": String(repeating: "a", count: 1_000_000)])
                }
                #expect(await transport.get(large.url()).error == .headTooLarge)
            }
        }
    }
#endif
