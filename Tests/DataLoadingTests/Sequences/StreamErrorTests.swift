// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Testing

@Suite struct StreamErrorTests {
    @Test func `an error shows little of a server's text, and nothing that controls a terminal`() {
        let type = "x\u{1B}]0;y\u{7}\u{85}\u{2028}e" + String(repeating: "\u{301}", count: 9_000)
        let text = "\(StreamError.notAnEventStream(contentType: type))"
        #expect(text.contains("x?]0;y???e"))
        #expect(text.utf8.count < 200)
        #expect(text.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) })
    }

    @Test func `what is dumped of a line's error has nothing of the body`() {
        let context = DecodingError.Context(codingPath: [], debugDescription: "a secret")
        let error = JSONLineError(line: 1, underlyingError: DecodingError.dataCorrupted(context))
        var text = "\(error)"
        dump(error, to: &text)
        #expect(!text.contains("secret"))
    }
}
