// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading

@testable import DataLoadingCurl
import DataLoadingTesting
import Foundation
import Testing

extension SecurityTests {
    // What is refused or limited by default.
    @Suite struct DefaultsTests {
        @Test(arguments: [
            "http://user@origin.test/", "http://user:word@origin.test/", "http://@origin.test/",
            "https://:word@origin.test/", "http://a%40b@origin.test/",
        ])
        func `user information in a URL is refused before the request is used`(url: String) {
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
        func `only http and https URLs are loaded or followed`(text: String) {
            if let url = URL(string: text) {
                let bed = TestBed()
                bed.loader.perform(DataLoaderRequest(url: url))
                #expect(bed.error?.name == "invalid_request")
                #expect(bed.transport.attempts.isEmpty)
            }
            let bed = TestBed([.respond(status: 302, headers: ["Location": text])])
            bed.loader.perform(.make())
            #expect(bed.error == .status(HTTPStatus(rawValue: 302)))
            #expect(bed.transport.attempts.count == 1)
        }

        @Test func `a redirect from https to http needs the permission of the request`() {
            for policy in [RedirectPolicy.follow, .ask { _ in true }] {
                let bed = TestBed([
                    .respond(status: 302, headers: ["Location": "http://origin.test/"])
                ])
                bed.loader.perform(
                    .make("/", host: "https://origin.test") { $0.redirectPolicy = policy })
                #expect(bed.error?.name == "redirect_refused")
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

        @Test func `no response body beyond the limit is kept, whatever its transport keeps`() {
            let bed = TestBed(
                otherwise: .run { attempt in
                    attempt.sendHead(status: 200)
                    for _ in 0..<40 { attempt.send(Data(count: 1_048_576)) }
                    attempt.end()
                })
            bed.loader.perform(.make())
            #expect(bed.error == .bodyTooLarge(limit: 33_554_432))
        }

        // There is no such option: libcurl verifies peer and name by default.
        @Test func `certificate verification cannot be turned off in the curl options`() throws {
            let tree = SourceTree()
            let path = "Sources/DataLoadingCurl/CurlOptions.swift"
            let options = try tree.lines(of: path).joined(separator: "\n")
            #expect(options.contains(": Int32 = 10230"))
            for number in [64, 81, 326] {  // SSL_VERIFYPEER, SSL_VERIFYHOST, SSL_VERIFYSTATUS
                #expect(!options.contains(": Int32 = \(number)\n"))
            }
        }

        // Neither by the interface nor by an option of libcurl nor by the environment.
        @Test func `no source line offers to accept every certificate`() throws {
            let words = [
                "insecure", "acceptall", "acceptany", "acceptsall", "acceptsany", "trustall",
                "trustany", "trustsall", "trustsany", "allcertificates", "anycertificate",
                "allowinvalid", "allowsinvalid", "allowexpired", "allowsexpired", "allowself",
                "allowsself", "selfsigned", "verifypeer", "verifyhost", "verifynone", "noverif",
                "skipverif", "skipsverif", "skipvalid", "ignorecert", "ignoresslerror", "danger",
            ]
            let ofEnvironment = ["getenv", ".environment", "processinfo"]
            let tree = SourceTree()
            let files = ["swift", "c", "h"].flatMap { tree.files(below: "Sources", $0) }
                .filter { !$0.hasPrefix("Sources/DataLoadingTesting/") }
            var options = 0
            for file in files {
                // Its initialiser reads what systemd and OpenTelemetry set, and says so.
                let mayRead = file.hasSuffix("/OperationsConfiguration.swift")
                for line in try tree.lines(of: file) {
                    let code = line.trimmingCharacters(in: .whitespaces)
                    guard !code.hasPrefix("//") else { continue }
                    let flat = code.lowercased().filter { $0 != "_" }
                    let unwanted = mayRead ? words : words + ofEnvironment
                    #expect(!unwanted.contains { flat.contains($0) }, "\(file): \(code)")
                    // Options have names, all of them in the file above.
                    if code.contains("set(CurlOption.") { options += 1 }
                    #expect(
                        code.firstMatch(of: /\b(ccurl_)?set(_[a-z]+)*\((easy, )?[0-9]/) == nil,
                        "\(code)")
                }
            }
            #expect(files.count > 100 && options > 30)
        }
    }
}

#if canImport(Glibc) || canImport(Musl)
    extension SocketTests {
        @Suite struct SecurityTestsDefaults {
            @Test func `no cookie is stored for any origin`() async throws {
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

            // CVE-2022-27779, CVE-2022-27780: libcurl gets the parsed host, not the URL's text.
            @Test(arguments: [
                ("http://NAME.test", "name.test"), ("HTTP://name.TEST.", "name.test."),
                ("http://xn--bcher-kva.test", "xn--bcher-kva.test"), ("http://a_b", "a_b"),
                ("http://-.-", "-.-"), ("http://1.2.3.4.test", "1.2.3.4.test"),
                ("http://localhost.", "localhost."),
            ])
            func `the host that was validated is the one that is resolved and sent as Host`(
                text: String, host: String
            ) async throws {
                let asked = EventRecorder<String>()
                let transport = CurlTransport(lookup: { name in
                    asked.record(name)
                    return .addresses(["127.0.0.1"])
                })
                let server = try LoopbackServer { _ in .ok("fine") }
                let record = await transport.get(testURL("\(text):\(server.port)/x"))
                #expect(record.text == "fine")
                #expect(asked.elements == [host])
                #expect(server.requests.map { $0.headers["Host"] } == ["\(host):\(server.port)"])
                await transport.shutDown()
            }

            @Test(arguments: [
                "X: " + String(repeating: "a", count: 300_000),
                (0..<2_000).map { "X-\($0): y" }.joined(separator: "\r\n"),
            ])
            func `no response head is read beyond its limit`(fields: String) async throws {
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
