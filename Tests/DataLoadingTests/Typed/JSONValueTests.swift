// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

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
    func `JSONValue refuses what is nested too deeply, whatever its size`(
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

    // A stranger's kilobytes must not cost seconds: this cost the cube of the depth once, eight times
    // as much for twice the depth, and with as many brackets in all four times.
    @Test func `a deeply nested text costs hardly more than a flatter one of its size`() throws {
        func cost(depth: Int) throws -> Duration {
            let nest =
                String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let nests = Array(repeating: nest, count: 6_000 / depth).joined(separator: ",")
            let text = "[" + nests + "]"
            // The best of three: what else the machine does costs time and never saves any.
            return try (0..<3).map { _ in try processorTime { _ = try decode(text) } }.min()
                ?? .zero
        }
        let flat = try cost(depth: 30)
        #expect(flat > .zero)
        #expect(try cost(depth: 60) < flat * 3)
    }

    @Test(arguments: ["[1,", "nope", "{\"a\":}", "[1e999]"])
    func `JSONValue throws at what is no JSON or no value`(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }
}
