// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FeedDaemon

@Suite struct JSONReaderTests {
    @Test func `keeps the place of every value`() throws {
        let node = try JSONReader.read("{\n  \"a\": [1,\n    \"é\", true]\n}\n")
        let members = try node.members("it")
        let elements = try members[0].value.elements("it")
        #expect(members[0].position == JSONNode.Position(line: 2, column: 3))
        #expect(elements.map(\.position.line) == [2, 3, 3])
        #expect(elements.map(\.position.column) == [9, 5, 10])
    }

    @Test(arguments: [
        (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
        (#""\u00e9\u20AC""#, "é€"), (#""\ud83d\ude00""#, "😀"), (#""e\u0301""#, "e\u{301}"),
    ])
    func `reads strings`(json: String, text: String) throws {
        guard case .string(let read) = try JSONReader.read(json).value else {
            Issue.record("no string")
            return
        }
        #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(arguments: [("0", 0), ("-0.5", -0.5), ("12", 12), ("1e3", 1_000), ("2.5E-1", 0.25)])
    func `reads numbers`(json: String, number: Double) throws {
        #expect(try JSONReader.read(json).number("it", in: -10_000...10_000) == number)
    }

    @Test(arguments: [
        ("", 1, 1), ("  ", 1, 3), ("{", 1, 2), ("{\"a\"}", 1, 5), ("{\"a\":1,}", 1, 8),
        ("{\"a\":1\n\"b\":2}", 2, 1), ("[1,\n2,\n]", 3, 1), ("[1 2]", 1, 4), ("{a:1}", 1, 2),
        ("{\"a\":1,\n \"a\":2}", 2, 2), ("01", 1, 1), ("1.", 1, 1), (".5", 1, 1), ("+1", 1, 1),
        ("1e999", 1, 1), ("-", 1, 1), ("NaN", 1, 1), ("nul", 1, 1), ("[tru]", 1, 2),
        ("\"a", 1, 1), ("[\"a\n\"]", 1, 2), (#""\x""#, 1, 3), (#""\u12""#, 1, 4),
        (#""\ud83d""#, 1, 4), (#""\ude00""#, 1, 4), (#""\ud83d\u0041""#, 1, 4), ("1 2", 1, 3),
        ("[1]]", 1, 4), ("/* */1", 1, 1), ("\u{FEFF}1", 1, 1), ("\u{0}", 1, 1), ("'a'", 1, 1),
    ])
    func `points at the mistake`(json: String, line: Int, column: Int) {
        let mistake = #expect(throws: Misreading.self) { try JSONReader.read(json) }
        #expect(mistake?.position == JSONNode.Position(line: line, column: column))
        #expect(mistake?.message.contains("\n") == false)
    }

    @Test func `does not go deeper than it can come back from`() {
        let nested = { (depth: Int) in
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONReader.read(nested(32)) }
        #expect(throws: Misreading.self) { try JSONReader.read(nested(33)) }
        #expect(throws: Misreading.self) {
            try JSONReader.read(String(repeating: "{\"a\":", count: 1_000_000))
        }
    }
}
