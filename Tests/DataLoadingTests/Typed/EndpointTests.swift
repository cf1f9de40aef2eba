// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@Suite struct EndpointTests {
    private let base = testURL("https://api.test/v1")

    @Test(arguments: [
        ("42", "42"), ("a/b?c", "a%2Fb%3Fc"), ("a b", "a%20b"), ("#1", "%231"), ("50%", "50%25"),
        ("%2e%2e", "%252e%252e"), ("...", "..."), ("über", "%C3%BCber"),
        ("a+b&c=d", "a%2Bb%26c%3Dd"),
        ("\u{0}\r\n", "%00%0D%0A"), ("-._~", "-._~"), ("@me:x", "%40me%3Ax"),
    ])
    func `any text of a path segment stays one segment`(text: String, sent: String) throws {
        let url = try Endpoint("people", text).url(relativeTo: base)
        #expect(url.absoluteString == "https://api.test/v1/people/\(sent)")
    }

    @Test(arguments: [
        ("a+b", "a%2Bb"), ("a&b=c", "a%26b%3Dc"), ("Zoë", "Zo%C3%AB"), ("a b", "a%20b"), ("", ""),
        ("100%", "100%25"), ("?#/", "%3F%23%2F"), ("名", "%E5%90%8D"),
    ])
    func `any text in a query stays one name or one value`(text: String, sent: String) throws {
        let url = try Endpoint("find", query: ["q": text, "n": "2", "q": "x"]).url(relativeTo: base)
        #expect(url.absoluteString == "https://api.test/v1/find?q=\(sent)&n=2&q=x")
        let named = Endpoint(path: [], query: [URLQueryItem(name: text, value: nil)])
        #expect(try named.url(relativeTo: base).absoluteString == "https://api.test/v1?\(sent)")
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
        #expect(items?.first?.value == text)
    }

    @Test(arguments: [
        ("https://api.test", "https://api.test/a/b"), ("https://api.test/", "https://api.test/a/b"),
        ("https://api.test/v1", "https://api.test/v1/a/b"),
        ("https://api.test/v1/", "https://api.test/v1/a/b"),
        ("http://[::1]:8080/x%20y", "http://[::1]:8080/x%20y/a/b"),
    ])
    func `an endpoint is below its base URL, with or without a path and a slash`(
        base: String, url: String
    ) throws {
        let base = testURL(base)
        #expect(try Endpoint("a", "b").url(relativeTo: base).absoluteString == url)
        #expect(try Endpoint().url(relativeTo: base) == base)
    }

    @Test(arguments: ["", ".", ".."])
    func `an endpoint with a segment that would change its path throws`(segment: String) {
        #expect(throws: DataLoaderError.invalidRequest(.pathSegment(index: 1))) {
            try Endpoint("people", segment, "friends").url(relativeTo: base)
        }
    }

    @Test(arguments: [
        ("https://api.test/?a=b", RequestFault.baseURL), ("https://api.test/#x", .baseURL),
        ("https://api.test?", .baseURL), ("/v1", .scheme), ("api.test", .scheme),
        ("ftp://api.test", .scheme), ("https:///v1", .host),
        ("https://me@api.test", .userInformation),
        ("https://api.test:0", .port),
    ])
    func `an endpoint throws for what cannot be a base URL`(text: String, fault: RequestFault) {
        #expect(throws: DataLoaderError.invalidRequest(fault)) {
            try Endpoint("a").url(relativeTo: testURL(text))
        }
    }

    @Test func `an endpoint without a base URL throws`() {
        #expect(throws: DataLoaderError.invalidRequest(.baseURL)) {
            try Endpoint("a").url(relativeTo: nil)
        }
    }

    @Test func `the description of an endpoint has no query`() {
        let endpoint = Endpoint("people", "a/b", query: ["key": "c4nary"])
        #expect("\(endpoint)" == "/people/a%2Fb?…")
        var dumped = ""
        dump(endpoint, to: &dumped)
        #expect(!dumped.contains("c4nary"))
        #expect(endpoint == Endpoint("people", "a/b", query: ["key": "c4nary"]))
        #expect(endpoint != Endpoint("people", "a/b"))
    }
}
