// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The value that names a proxy, and which origins it covers.
@Suite struct ProxyTests {
    private static func origin(_ url: String) throws -> Origin {
        try RequestTarget(text: url).origin
    }

    @Test(arguments: [
        ("http://proxy.test:3128", "http://proxy.test:3128"),
        ("http://proxy.test", "http://proxy.test:80"),
        ("https://PROXY.test/", "https://proxy.test:443"),
        ("http://[::1]:8080", "http://[::1]:8080"), ("http://127.1:1", "http://127.0.0.1:1"),
    ])
    func `a proxy is named by its scheme, host and port`(url: String, text: String) throws {
        #expect(try Proxy(url).description == text)
    }

    @Test(arguments: [
        "", "proxy.test:3128", "socks5://proxy.test", "http://", "http://user:word@proxy.test",
        "http://user@proxy.test", "http://proxy.test/path", "http://proxy.test/?q",
        "http://proxy.test#f", "http://proxy.test:0", "http://proxy.test:x", "http://a b",
        "http://proxy.test\r\nX: y", "unix:/run/proxy.sock",
    ])
    func `a malformed URL of a proxy, or one with user information, is refused`(url: String) {
        let error = #expect(throws: DataLoaderError.self) { try Proxy(url) }
        #expect(error?.name == "invalid_configuration")
        #expect(error?.description.contains("word") == false)
    }

    @Test func `authorities of a proxy must be in PEM form`() {
        #expect(throws: DataLoaderError.self) {
            try Proxy("https://proxy.test", certificateAuthorities: Data("none".utf8))
        }
    }

    @Test(arguments: ["", ".", "a b", "http://a", "a/b", "a:", "a:0", "*.a", "[::1", ".:1", "a@b"])
    func `a malformed direct host is refused`(host: String) {
        #expect(throws: DataLoaderError.self) {
            try Proxy("http://proxy.test", directHosts: [host])
        }
    }

    @Test(arguments: [
        ("http://example.com", true), ("http://localhost:99", false), ("http://127.1", false),
        ("https://[::1]", false), ("http://LOCALHOST.", false), ("http://sub.localhost", true),
        ("http://127.0.0.2", true),
    ])
    func `by default only the names of this machine are loaded without the proxy`(
        url: String, isCovered: Bool
    ) throws {
        #expect(try Proxy("http://proxy.test").covers(Self.origin(url)) == isCovered)
    }

    @Test(arguments: [
        ("http://a.test", false), ("https://a.test:99", false), ("http://A.TEST.", false),
        ("http://x.a.test", true), ("http://b.test:81", false), ("http://b.test", true),
        ("http://c.test", true), ("http://x.c.test", false), ("http://y.x.c.test:1", false),
        ("http://xc.test", true), ("http://x.d.test:82", false), ("http://x.d.test", true),
        ("http://localhost", true),
    ])
    func `direct hosts are names with or without a port, and domains`(
        url: String, isCovered: Bool
    ) throws {
        let proxy = try Proxy(
            "http://proxy.test", directHosts: ["a.test", "b.test:81", ".c.test", ".d.test:82"])
        #expect(try proxy.covers(Self.origin(url)) == isCovered)
    }

    @Test func `proxies that differ in anything are different`() throws {
        let proxy = try Proxy("http://proxy.test")
        #expect(try proxy == Proxy("http://PROXY.test:80/"))
        #expect(try proxy != Proxy("https://proxy.test"))
        #expect(try proxy != Proxy("http://proxy.test:81"))
        #expect(try proxy != Proxy("http://proxy.test", directHosts: []))
        let pem = Data("-----BEGIN CERTIFICATE-----".utf8)
        #expect(try proxy != Proxy("http://proxy.test", certificateAuthorities: pem))
    }

    @Test func `an authoriser for a proxy needs a proxy`() async {
        let bed = TestBed { $0.proxyAuthoriser = TestAuthoriser() }
        bed.loader.perform(.make())
        #expect(bed.error?.name == "invalid_configuration")
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a fault of a proxy is no sign that the server did anything`() {
        for fault in ProxyFaultWords.faults {
            let error = DataLoaderError.proxy(fault)
            #expect(!error.mayHaveBeenProcessed)
            #expect(error.name == "proxy")
            #expect(error.description.hasPrefix("the proxy failed: it"))
        }
    }
}

enum ProxyFaultWords {
    static let faults: [ProxyFault] = [
        .dns, .connectRefused, .connectTimeout, .tls, .certificate(reason: "old"),
        .connectionReset, .framing(reason: "a line"), .status(.badGateway),
    ]
}
