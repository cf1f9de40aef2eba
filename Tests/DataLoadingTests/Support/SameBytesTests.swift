// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Testing

@Suite struct SameBytesTests {
    @Test(arguments: ["", "a", "é", "a long text of more than fifteen bytes"])
    func `texts have the same bytes only when they are spelt alike`(_ text: String) {
        #expect(text.hasSameBytes(as: text))
        #expect(!text.hasSameBytes(as: text + "b"))
        #expect(!(text + "b").hasSameBytes(as: text + "c"))
    }

    @Test func `two spellings of one letter are equal texts, and not the same bytes`() {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one == two)
        #expect(!one.hasSameBytes(as: two))
    }

    @Test func `a text that a substring shares memory with is compared like any other`() {
        let text = "https://origin.test/a?b=c"
        #expect(String(text.prefix(20)).hasSameBytes(as: "https://origin.test/"))
    }

    @Test func `bytes begin with a text when all of its bytes come first`() {
        let begins = { (bytes: [UInt8], text: StaticString) in
            bytes.withUnsafeBytes { $0.starts(with: text) }
        }
        #expect(begins(Array("HTTP/1.1 200".utf8), "HTTP/1.1 "))
        #expect(begins(Array("HTTP/1.1 ".utf8), "HTTP/1.1 "))
        #expect(!begins(Array("HTTP/1.1".utf8), "HTTP/1.1 "))
        #expect(!begins(Array("HTTP/1.0 200".utf8), "HTTP/1.1 "))
        #expect(!begins([], "H"))
    }
}
