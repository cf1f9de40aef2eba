// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The same table for the URLs of callers and of servers.
@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("http://h", "http://h:80", "/"), ("HTTP://H.Test/", "http://h.test:80", "/"),
        ("https://h/a/b?c=d#e", "https://h:443", "/a/b?c=d"), ("http://h?x", "http://h:80", "/?x"),
        ("http://h#x", "http://h:80", "/"), ("http://h:8080/", "http://h:8080", "/"),
        ("http://h:/x", "http://h:80", "/x"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]:443", "/"),
        ("http://[::1]:81/a", "http://[::1]:81", "/a"),
        ("http://1.2.3.4/", "http://1.2.3.4:80", "/"),
        ("http://h./", "http://h.:80", "/"), ("http://a_b-c.d/", "http://a_b-c.d:80", "/"),
        ("http://h/%2F%00?%", "http://h:80", "/%2F%00?%"),
        ("http://h/a//b/../c", "http://h:80", "/a//b/../c"),
        ("http://h/;a=b:c@d", "http://h:80", "/;a=b:c@d"),
        ("http://h:065535/", "http://h:65535", "/"),
    ])
    func `a request target keeps origin, path and query as written`(
        text: String, origin: String, target: String
    )
        throws
    {
        let read = try RequestTarget(text: text)
        #expect(read.origin.description == origin)
        #expect(read.pathAndQuery == target)
        #expect(try RequestTarget(text: read.urlText) == read)
    }

    @Test(arguments: [
        ("", RequestFault.scheme), ("h", .scheme), ("//h/", .scheme), ("http:/h", .scheme),
        ("http:h", .scheme), ("httpx://h", .scheme), ("ws://h", .scheme), (" http://h", .scheme),
        ("http://", .host), ("http:///x", .host), ("http://?x", .host), ("http://:80/", .host),
        ("http://h h/", .host), ("http://h%41/", .host), ("http://h\0/", .host),
        ("http://[::1/", .host), ("http://[]/", .host), ("http://[::1]x/", .host),
        ("http://[fe80::1%25eth0]/", .host), ("http://\u{FF48}/", .host), ("http://h,i/", .host),
        // CVE-2022-27780, CVE-2022-43551, CVE-2021-0341: no host is hidden in another host.
        ("http://h%2Fx/", .host), ("http://h%2ex/", .host), ("http://h%00.test/", .host),
        ("http://h\0.test/", .host), ("http://h\u{3002}test/", .host),
        ("http://h\u{FF0E}test/", .host), ("http://\u{212A}.test/", .host),
        ("http://h\u{AD}.test/", .host), ("http://h\\.test/", .host), ("http://h.test\t/", .host),
        ("http://h:x/", .port), ("http://h:0/", .port), ("http://h:65536/", .port),
        ("http://h:99999999999999999999/", .port), ("http://h:-1/", .port), ("http://h:+1/", .port),
        ("http://h:80:80/", .port), ("http://a@h/", .userInformation),
        ("http://a:b@h/", .userInformation), ("http://@h/", .userInformation),
        ("http://h/ ", .target), ("http://h/a\tb", .target), ("http://h/\r\n", .target),
        ("http://h/\u{E9}", .target), ("http://h/\u{7F}", .target), ("http://h/?\0", .target),
    ])
    func `a malformed URL is refused with the part that is wrong`(text: String, fault: RequestFault)
    {
        #expect(throws: fault) { try RequestTarget(text: text) }
    }

    @Test(
        arguments: [
            ("http://h/", nil), ("http://h/a", "a"), ("http://h/a/b", "a"), ("http://h/a?b/c", "a"),
            ("http://h?a/b", nil), ("http://h//a", nil), ("http://h/%2Fa/", "%2Fa"),
        ] as [(String, String?)])
    func `the first path component of a URL is found`(text: String, expected: String?) throws {
        #expect(try RequestTarget(text: text).firstPathComponent.map(String.init) == expected)
    }

    @Test func `parsing a request target never traps, whatever the text`() {
        property(cases: propertyCases) { generator in
            let pieces = [
                "http://", "https://", "h", "[", "]", ":", "@", "/", "?", "#", "%", "\r\n", "\0",
                "80", "::1", ".", "é", "\u{1F600}", " ", "\\",
            ]
            let text = (0..<Int.random(in: 0..<10, using: &generator))
                .compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            guard let target = try? RequestTarget(text: text) else { return nil }
            let bytes = target.urlText.utf8
            return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? nil : target.urlText
        }
    }
}
