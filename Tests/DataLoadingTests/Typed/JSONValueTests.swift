// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoading
import Foundation
import Testing

@Suite struct JSONValueTests {
    private func decode(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test func `JSONValue decodes every kind of value`() throws {
        let value = try decode(#"{"a":[null,true,1.5,"x",[],{}],"b":{"c":-1}}"#)
        #expect(
            value
                == .object([
                    "a": .array([
                        .null, .bool(true), .number(1.5), .string("x"), .array([]), .object([:]),
                    ]), "b": .object(["c": .number(-1)]),
                ]))
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `JSONValue refuses JSON that is nested too deeply, whatever its size`(
        open: String, close: String
    ) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { try decode(nested(64)) }
        for depth in [65, 200, 500, 100_000] {
            #expect(throws: (any Error).self) { try decode(nested(depth)) }
        }
    }

    // A few kilobytes from a server must not cost seconds. Decoding once took time with the cube of
    // the depth: eight times as long for twice the depth.
    @Test func `decoding nested JSON costs little more than decoding flat JSON of its size`() throws
    {
        func cost(depth: Int) throws -> Duration {
            let nest =
                String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let nests = Array(repeating: nest, count: 6_000 / depth).joined(separator: ",")
            let text = "[" + nests + "]"
            // The best of three runs, because other work on the machine only adds time.
            return try (0..<3).map { _ in try processorTime { _ = try decode(text) } }.min()
                ?? .zero
        }
        let flat = try cost(depth: 30)
        #expect(flat > .zero)
        #expect(try cost(depth: 60) < flat * 3)
    }

    @Test(arguments: ["[1,", "nope", "{\"a\":}", "[1e999]"])
    func `JSONValue throws for text that is not JSON`(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }
}
