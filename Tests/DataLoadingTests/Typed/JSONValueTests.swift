// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@Suite struct JSONValueTests {
    private func decode(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test func `decodes every kind of value`() throws {
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
    func `refuses what is nested too deeply, whatever its size`(open: String, close: String) throws
    {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { try decode(nested(64)) }
        for depth in [65, 200, 500, 100_000] {
            #expect(throws: (any Error).self) { try decode(nested(depth)) }
        }
    }

    // A stranger's kilobytes must not cost seconds: this cost the cube of the depth once.
    @Test func `costs little where much is nested`() throws {
        let nest = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let text = "[" + Array(repeating: nest, count: 100).joined(separator: ",") + "]"
        let took = try processorTime { _ = try decode(text) }
        #expect(took < .seconds(2 * patience))
    }

    @Test(arguments: ["[1,", "nope", "{\"a\":}", "[1e999]"])
    func `throws at what is no JSON or no value`(text: String) {
        #expect(throws: (any Error).self) { try decode(text) }
    }
}
