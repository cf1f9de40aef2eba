// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension SecurityTests {
    // The rows of FAULTS section 4 that have no file of their own.
    @Suite struct TableTests {
        @Test(arguments: [
            "http://user@origin.test/", "http://user:word@origin.test/", "http://@origin.test/",
            "https://:word@origin.test/", "http://a%40b@origin.test/",
        ])
        func `user information in a URL is refused before anything is done with it`(url: String) {
            let authoriser = TestAuthoriser()
            let bed = TestBed(authorisers: [authoriser])
            bed.loader.perform(DataLoaderRequest(url: testURL(url)))
            #expect(bed.error == .invalidRequest(.userInformation))
            #expect(authoriser.calls.isEmpty && bed.transport.attempts.isEmpty)
            bed.expectNothingLeft()
        }

        @Test(arguments: [
            "file:///etc/passwd", "ftp://h/", "gopher://h/", "data:,x", "ws://h/", "unix:/x",
            "dict://h:1/", "http+unix://h/", "HTTPS:x", "javascript:x",
        ])
        func `nothing but http and https is loaded or followed`(text: String) {
            if let url = URL(string: text) {
                let bed = TestBed()
                bed.loader.perform(DataLoaderRequest(url: url))
                #expect(bed.error?.kind == "invalid_request")
                #expect(bed.transport.attempts.isEmpty)
            }
            let bed = TestBed([.respond(status: 302, headers: ["Location": text])])
            bed.loader.perform(.make())
            #expect(bed.error == .status(HTTPStatus(rawValue: 302)))
            #expect(bed.transport.attempts.count == 1)
        }

        @Test func `https leads to http by nobody's word but the request's`() {
            for policy in [RedirectPolicy.follow, .ask { _ in true }] {
                let bed = TestBed([
                    .respond(status: 302, headers: ["Location": "http://origin.test/"])
                ])
                bed.loader.perform(
                    .make("/", host: "https://origin.test") { $0.redirectPolicy = policy })
                #expect(bed.error?.kind == "redirect_refused")
                #expect(bed.transport.attempts.count == 1)
            }
        }

        @Test(arguments: [
            "1000000000000000000000000000000", "86400", "Fri, 31 Dec 9999 23:59:59 GMT",
        ])
        func `no Retry-After holds a load for longer than a minute`(value: String) {
            let bed = TestBed(
                otherwise: .respond(status: 503, headers: ["Retry-After": value])
            ) { $0.retry.maximumRetryCount = 5 }
            bed.loader.perform(.make { $0.timeout = .seconds(1_000_000) })
            #expect(bed.error == .status(.serviceUnavailable))
            #expect(bed.ended?.response?.retryAfter != nil)
            #expect(bed.transport.attempts.count == 1)
        }

        @Test func `no response is kept past the limit, though its transport keeps none`() {
            let bed = TestBed(
                otherwise: .run { attempt in
                    attempt.sendHead(status: 200)
                    for _ in 0..<40 { attempt.send(Data(count: 1_048_576)) }
                    attempt.end()
                })
            bed.loader.perform(.make())
            #expect(bed.error == .bodyTooLarge(limit: 33_554_432))
        }

        // "No such switch in release API": libcurl checks peer and name unless told otherwise.
        @Test func `nothing can turn the check of certificates off`() throws {
            let tree = SourceTree()
            let path = "Sources/DataLoading/Transport/Curl/CurlOptions.swift"
            let options = try tree.lines(of: path).joined(separator: "\n")
            #expect(options.contains(": Int32 = 10230"))
            for number in [64, 81, 326] {  // SSL_VERIFYPEER, SSL_VERIFYHOST, SSL_VERIFYSTATUS
                #expect(!options.contains(": Int32 = \(number)\n"))
            }
        }
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SocketTests {
        @Suite struct SecurityTestsTable {
            @Test func `no cookie is kept, for its own origin or another`() async throws {
                let server = try LoopbackServer { request in
                    request.path == "/a"
                        ? .status(302, headers: ["Set-Cookie": "a=b; Path=/", "Location": "/b"])
                        : .ok("", headers: ["Set-Cookie": "c=d; Path=/"])
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                for path in ["/a", "/a", "/c"] {
                    _ = try await loader.response(for: DataLoaderRequest(url: server.url(path)))
                }
                #expect(server.requestCount == 5)
                #expect(server.requests.allSatisfy { !$0.headers.contains("Cookie") })
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(arguments: [
                "X: " + String(repeating: "a", count: 300_000),
                (0..<2_000).map { "X-\($0): y" }.joined(separator: "\r\n"),
            ])
            func `no head is read past its limit`(fields: String) async throws {
                let server = try LoopbackServer { _ in
                    .raw(.text("HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n"))
                }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                await #expect(throws: DataLoaderError.headTooLarge) {
                    try await loader.response(for: DataLoaderRequest(url: server.url()))
                }
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
