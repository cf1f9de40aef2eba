// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import Testing

@Suite struct ReferenceResolutionTests {
    // RFC 3986 section 5.4, without fragments and without schemes that are never loaded.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"),
        ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"),
        ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"),
        ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"),
        ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
        ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"),
        ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"),
        ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
        ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
        ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
        // In addition to the RFC: escapes and empty segments are kept.
        ("%2Fg", "/b/c/%2Fg"), ("a%2F..%2Fb", "/b/c/a%2F..%2Fb"), ("%2e%2e/g", "/b/c/%2e%2e/g"),
        ("x//y", "/b/c/x//y"), ("/x//../y", "/x/y"), ("g:80", "g:80"),
    ])
    func `relative references resolve as in RFC 3986 section 5.4`(
        reference: String, expected: String
    ) throws {
        let base = try RequestTarget(text: "http://a/b/c/d;p?q")
        let resolved = ReferenceResolution.resolve(reference, against: base)
        #expect(resolved == (expected.hasPrefix("/") ? "http://a:80" + expected : expected))
    }

    @Test(arguments: [
        ("//g", "https://g"), ("//g/x?y", "https://g/x?y"), ("http://other/x", "http://other/x"),
        ("HTTPS://Other", "HTTPS://Other"), ("mailto:x", "mailto:x"), ("http:g", "http:g"),
        // RFC 3986 section 5.2.2 removes dot segments here as well.
        ("http://o/a/./b/../c", "http://o/a/c"), ("//o/../../x?y/../z", "https://o/x?y/../z"),
        ("http://o/..", "http://o/"), ("http://o?a/../b", "http://o?a/../b"),
        ("http://o", "http://o"),
        ("http://o/a/.", "http://o/a/"), ("http://o/%2e%2e/x", "http://o/%2e%2e/x"),
        ("http://o/../x#/../y", "http://o/x"), ("http://", "http://"),
        ("http:///../x", "http:///x"),
    ])
    func `a reference with its own host replaces the base`(reference: String, expected: String)
        throws
    {
        let base = try RequestTarget(text: "https://a:8443/b")
        #expect(ReferenceResolution.resolve(reference, against: base) == expected)
    }

    @Test func `reference resolution keeps the port, bracketed addresses and an empty base path`()
        throws
    {
        let base = try RequestTarget(text: "https://[2001:DB8::1]:8443?q")
        #expect(
            ReferenceResolution.resolve("x", against: base) == "https://[2001:db8::1]:8443/x")
    }
}
