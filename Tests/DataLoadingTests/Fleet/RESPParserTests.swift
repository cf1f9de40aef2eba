// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import DataLoadingTesting
import Testing

@Suite struct RESPParserTests {
    /// Parses a text in pieces of a size; throws the fault that ends it.
    private static func parse(_ text: String, pieces: Int = .max) throws -> [RESPValue] {
        let bytes = Array(text.utf8)
        var parser = RESPParser()
        var replies: [RESPValue] = []
        var start = 0
        while start < bytes.count {
            let end = bytes.count - start > pieces ? start + pieces : bytes.count
            parser.add(bytes[start..<end])
            while let reply = try parser.next() { replies.append(reply) }
            start = end
        }
        return replies
    }

    private static func bulk(_ text: String) -> RESPValue { .bulk(Array(text.utf8)) }

    private static let samples: [(String, RESPValue)] = [
        ("+OK\r\n", .simple("OK")),
        ("+\r\n", .simple("")),
        ("-NOSCRIPT no such script\r\n", .error(RESPError(text: "NOSCRIPT no such script"))),
        (":0\r\n", .number(0)),
        (":+12\r\n", .number(12)),
        (":-9223372036854775808\r\n", .number(.min)),
        (":9223372036854775807\r\n", .number(.max)),
        (",3.5\r\n", .double(3.5)),
        (",-1e-3\r\n", .double(-0.001)),
        (",10\r\n", .double(10)),
        (",inf\r\n", .double(.infinity)),
        (",-inf\r\n", .double(-.infinity)),
        ("#t\r\n", .boolean(true)),
        ("#f\r\n", .boolean(false)),
        ("$0\r\n\r\n", bulk("")),
        ("$5\r\na\r\nb\0\r\n", bulk("a\r\nb\0")),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        ("_\r\n", .null),
        ("=7\r\ntxt:abc\r\n", bulk("abc")),
        ("!8\r\nERR a\r\nb\r\n", .error(RESPError(text: "ERR a\r\nb"))),
        ("*0\r\n", .array([])),
        ("%0\r\n", .map([])),
        (
            "*3\r\n:1\r\n*1\r\n+a\r\n$1\r\nb\r\n",
            .array([.number(1), .array([.simple("a")]), bulk("b")])
        ),
        ("~2\r\n:1\r\n:1\r\n", .array([.number(1), .number(1)])),
        (
            "%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*0\r\n",
            .map([
                .init(key: .simple("a"), value: .number(1)),
                .init(key: bulk("b"), value: .array([])),
            ])
        ),
        // The greeting of a server with a module.
        (
            "%1\r\n+modules\r\n*1\r\n%2\r\n+name\r\n+m\r\n+args\r\n*1\r\n+x\r\n",
            .map([
                .init(
                    key: .simple("modules"),
                    value: .array([
                        .map([
                            .init(key: .simple("name"), value: .simple("m")),
                            .init(key: .simple("args"), value: .array([.simple("x")])),
                        ])
                    ]))
            ])
        ),
    ]

    @Test(arguments: samples) func `a reply of each type has its value`(
        _ text: String, _ value: RESPValue
    ) throws {
        #expect(try Self.parse(text) == [value])
    }

    @Test func `replies are the same however their bytes are split`() throws {
        let text = Self.samples.map(\.0).joined()
        let values = Self.samples.map(\.1)
        for size in 1...40 { #expect(try Self.parse(text, pieces: size) == values, "\(size)") }
    }

    @Test func `a reply that is split at any byte is complete with its last byte only`() throws {
        for (text, value) in Self.samples {
            let bytes = Array(text.utf8)
            for split in 0..<bytes.count {
                var parser = RESPParser()
                parser.add(bytes[..<split])
                #expect(try parser.next() == nil, "\(text) at \(split)")
                parser.add(bytes[split...])
                #expect(try parser.next() == value, "\(text) at \(split)")
                #expect(!parser.isWithinReply)
            }
        }
    }

    @Test func `pushes between replies are skipped`() throws {
        let push = ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n"
        #expect(
            try Self.parse("\(push)+a\r\n\(push)\(push):1\r\n\(push)") == [
                .simple("a"), .number(1),
            ])
    }

    @Test(
        arguments: [
            ("hello\r\n", RESPFault.unsupportedType(0x68)),
            ("\r\n", .line), ("\n", .line), ("+a\n", .line), ("+a\rb", .line), ("+a\0b\r\n", .line),
            (":\r\n", .number), (":1.5\r\n", .number), (": 1\r\n", .number), (":--1\r\n", .number),
            (":9223372036854775808\r\n", .number), (":-9223372036854775809\r\n", .number),
            (":99999999999999999999999\r\n", .number),
            ("$-2\r\n", .length), ("$\r\n", .length), ("$+1\r\n", .length), ("$1a\r\n", .length),
            ("$?\r\n", .length), ("*-2\r\n", .length), ("*?\r\n", .length), ("%-1\r\n", .length),
            ("~-1\r\n", .length), ("=-1\r\n", .length), (">0\r\n", .length),
            ("$65537\r\n", .tooLarge), ("$9223372036854775807\r\n", .tooLarge),
            ("$99999999999999999999999\r\n", .tooLarge), ("*9223372036854775807\r\n", .tooLarge),
            ("%9223372036854775807\r\n", .tooLarge), ("%4611686018427387904\r\n", .tooLarge),
            ("$1\r\nab\r\n", .line), ("$1\r\na\rb", .line),
            ("(12345678901234567890\r\n", .unsupportedType(0x28)),
            ("|1\r\n+a\r\n+b\r\n", .unsupportedType(0x7C)),
            ("*1\r\n>1\r\n+a\r\n", .unsupportedType(0x3E)),
            ("_x\r\n", .malformed), ("#x\r\n", .malformed), (",x\r\n", .malformed),
            (",\r\n", .malformed), (",nan\r\n", .malformed), (",0x1p3\r\n", .malformed),
            (",1e999\r\n", .malformed), ("=3\r\ntxt\r\n", .malformed),
            ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n+a\r\n", .tooDeep),
            ("%1\r\n+a\r\n*1\r\n*1\r\n*1\r\n%0\r\n", .tooDeep),
        ] as [(String, RESPFault)])
    func `hostile bytes are refused with their fault, whole and byte by byte`(
        _ text: String, _ fault: RESPFault
    ) {
        #expect(throws: fault) { try Self.parse(text) }
        #expect(throws: fault) { try Self.parse(text, pieces: 1) }
    }

    @Test func `a reply of 64 KiB is taken and a larger one is refused`() throws {
        let longest = String(repeating: "a", count: RESPParser.maxReplySize - 3)
        #expect(try Self.parse("+\(longest)\r\n+b\r\n", pieces: 1_000).count == 2)
        #expect(throws: RESPFault.tooLarge) { try Self.parse("+a\(longest)\r\n") }
        // Without its end too, so that no more is kept.
        #expect(throws: RESPFault.tooLarge) { try Self.parse("+aaaa\(longest)", pieces: 1_000) }
        let half = "$32768\r\n\(String(repeating: "a", count: 32_768))\r\n"
        #expect(throws: RESPFault.tooLarge) { try Self.parse("*2\r\n\(half)\(half)") }
        #expect(throws: RESPFault.tooLarge) {
            try Self.parse("*30000\r\n" + String(repeating: ":1\r\n", count: 30_000))
        }
        // Each is as large as it may be, and what was read is not kept.
        #expect(try Self.parse(String(repeating: half, count: 10)).count == 10)
    }

    @Test func `the description of an error has its code and nothing that the server said`() {
        let error = RESPError(text: "ERR unknown command 'x', with args beginning with: 'secret'")
        #expect(error.code == "ERR" && "\(error)" == "ERR")
        #expect(!String(reflecting: error).contains("secret"))
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(
            RESPError(text: "Err x").code == "" && RESPError(text: "READONLY").code == "READONLY")
    }
}
