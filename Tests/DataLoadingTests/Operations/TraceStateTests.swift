// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import Testing

@Suite struct TraceStateTests {
    private static func sent(_ tracestate: String?) -> String? {
        TraceContext(
            traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            tracestate: tracestate)?.tracestate
    }

    @Test(
        arguments: [
            "congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "foo=1  ,  bar=2",
            "foo=1,", "foo=1,foo=1", "FOO=1", "foo =1", "z=" + String(repeating: "v", count: 508),
        ])
    func `a tracestate is passed on unchanged, whether its members are well formed or not`(
        tracestate: String
    ) {
        #expect(Self.sent(tracestate) == tracestate)
        #expect(Self.sent(tracestate + " \t") == tracestate + " \t")
    }

    @Test func `a tracestate that is empty, or that no header may have, is not passed on`() {
        // Not arguments of the test, whose name would have the control characters.
        let values = [nil, "", " ", "\t \t", "a=1\r\nX: y", "a=\0", "a=é", "a=\u{7F}"]
        for value in values { #expect(Self.sent(value) == nil) }
    }

    @Test func `of a long tracestate the last members are dropped whole`() {
        let member = String(repeating: "m", count: 126) + "=1"
        let four = [member, member, member, String(repeating: "n", count: 123) + "=1"]
            .joined(separator: ",")
        #expect(four.utf8.count == 512)
        #expect(Self.sent(four) == four)
        #expect(Self.sent(four + ",") == four)
        #expect(Self.sent(four + ",a=1") == four)
        #expect(Self.sent(four + "1") == [member, member, member].joined(separator: ","))
        #expect(Self.sent(String(repeating: "m", count: 513)) == nil)
        #expect(Self.sent("," + String(repeating: "m", count: 512)) == nil)
    }
}
