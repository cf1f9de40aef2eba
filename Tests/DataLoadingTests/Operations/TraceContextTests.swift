// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingTesting
import Testing

@Suite struct TraceContextTests {
    private static let trace = "12345678901234567890123456789012"
    private static let span = "1234567890123456"

    // The cases of the test suite of the specification (github.com/w3c/trace-context, test.py).
    @Test(
        arguments: [
            "00-12345678901234567890123456789012-1234567890123456-01",
            "cc-12345678901234567890123456789012-1234567890123456-01",
            "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
            "01-12345678901234567890123456789012-1234567890123456-01-",
            "fe-12345678901234567890123456789012-1234567890123456-01",
        ])
    func `a traceparent of this version or a later one is read and written as version 00`(
        header: String
    ) {
        let context = TraceContext(traceparent: header)
        #expect(
            context?.traceparent == "00-12345678901234567890123456789012-1234567890123456-01")
        #expect(context?.isSampled == true)
    }

    @Test(
        arguments: [
            "", "00", "-", "00-12345678901234567890123456789012-1234567890123456-01.",
            "00-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
            "00-12345678901234567890123456789012-1234567890123456-01-",
            "cc-12345678901234567890123456789012-1234567890123456-01.what-the-future-will-be-like",
            "ff-12345678901234567890123456789012-1234567890123456-01",
            ".0-12345678901234567890123456789012-1234567890123456-01",
            "0.-12345678901234567890123456789012-1234567890123456-01",
            "000-12345678901234567890123456789012-1234567890123456-01",
            "0000-12345678901234567890123456789012-1234567890123456-01",
            "0-12345678901234567890123456789012-1234567890123456-01",
            "00-00000000000000000000000000000000-1234567890123456-01",
            "00-.2345678901234567890123456789012-1234567890123456-01",
            "00-1234567890123456789012345678901.-1234567890123456-01",
            "00-123456789012345678901234567890123-1234567890123456-01",
            "00-1234567890123456789012345678901-1234567890123456-01",
            "00-12345678901234567890123456789012-0000000000000000-01",
            "00-12345678901234567890123456789012-.234567890123456-01",
            "00-12345678901234567890123456789012-123456789012345.-01",
            "00-12345678901234567890123456789012-12345678901234567-01",
            "00-12345678901234567890123456789012-123456789012345-01",
            "00-12345678901234567890123456789012-1234567890123456-.0",
            "00-12345678901234567890123456789012-1234567890123456-0.",
            "00-12345678901234567890123456789012-1234567890123456-001",
            "00-12345678901234567890123456789012-1234567890123456-1",
            "00-ABCDEF78901234567890123456789012-1234567890123456-01",
            "00-12345678901234567890123456789012-ABCDEF7890123456-01",
            "00-12345678901234567890123456789012-1234567890123456-0A",
            " 00-12345678901234567890123456789012-1234567890123456-01",
            "00-１２345678901234567890123456789012-1234567890123456-01",
        ])
    func `a malformed traceparent gives no context, whatever its tracestate is`(header: String) {
        #expect(TraceContext(traceparent: header, tracestate: "foo=1") == nil)
        #expect(TraceContext(traceparent: header + "\r\nX: y") == nil)
    }

    @Test func `of the flags of a trace, only sampled and random are kept`() {
        for flags in 0...255 {
            let digits = UInt64(flags).hexText.suffix(2)
            let context = TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-\(digits)")
            #expect(context?.traceparent.hasSuffix("-0\(flags & 3)") == true)
            #expect(context?.isSampled == (flags & 1 == 1))
        }
    }

    @Test func `a trace number whose halves are zero is a number unless both are`() {
        let zero = String(repeating: "0", count: 16)
        for number in [zero + Self.span, Self.span + zero] {
            let header = "00-\(number)-\(Self.span)-00"
            #expect(TraceContext(traceparent: header)?.traceparent == header)
        }
    }

    @Test func `the root of a trace has random numbers and says so`() {
        let roots = (0..<100).map { _ in TraceContext.makeRoot() }
        #expect(Set(roots).count == 100)
        #expect(roots.allSatisfy { $0.isSampled && $0.traceparent.hasSuffix("-03") })
        #expect(roots.allSatisfy { TraceContext(traceparent: $0.traceparent) == $0 })
        let unsampled = TraceContext.makeRoot(isSampled: false)
        #expect(!unsampled.isSampled)
        #expect(unsampled.traceparent.hasSuffix("-02"))
        #expect(unsampled.tracestate == nil)
    }

    @Test func `a generator of zeros makes no numbers that are all zero`() {
        struct Zeros: RandomNumberGenerator {
            private let zero: UInt64 = 0

            mutating func next() -> UInt64 { zero }
        }
        var zeros = Zeros()
        let root = TraceContext.makeRoot(isSampled: true, using: &zeros)
        #expect(TraceContext(traceparent: root.traceparent) == root)
    }

    @Test func `a span inside has the same trace, flags and tracestate, and another number`() throws
    {
        var generator = SeededGenerator(seed: 5)
        for flags in ["00", "01", "02", "03"] {
            let header = "00-\(Self.trace)-\(Self.span)-\(flags)"
            let parent = try #require(TraceContext(traceparent: header, tracestate: "foo=1"))
            let children = (0..<100).map { _ in parent.makeChild(using: &generator) }
            #expect(Set(children).count == 100)
            #expect(!children.contains(parent))
            for child in children {
                #expect(child.traceparent.hasPrefix("00-\(Self.trace)-"))
                #expect(child.traceparent.hasSuffix("-\(flags)"))
                #expect(child.tracestate == "foo=1")
            }
        }
    }

    /// Whether a text is a traceparent of version 00 or a later one, by a regular expression.
    private static func isWellFormed(_ header: String) -> Bool {
        let whole = /([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?/
            .dotMatchesNewlines().matchingSemantics(.unicodeScalar)
        guard let match = header.wholeMatch(of: whole), match.1 != "ff" else { return false }
        return match.2.contains { $0 != "0" } && match.3.contains { $0 != "0" }
            && (match.1 != "00" || match.4 == nil)
    }

    @Test func `fuzzed headers are read as the grammar says, and what is written is read again`() {
        property { generator in
            var header = Array(
                TraceContext.makeRoot(isSampled: true, using: &generator).traceparent
                    .unicodeScalars)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: 0..<header.count, using: &generator)
                let scalar = "0f9-Ag ,\n\0é".unicodeScalars.randomElement(using: &generator) ?? "0"
                switch Int.random(in: 0...4, using: &generator) {
                case 0: header[place] = scalar
                case 1: header.insert(scalar, at: place)
                case 2: header.remove(at: place)
                case 3: header.append(scalar)
                default: header.replaceSubrange(..<2, with: ["0", scalar])
                }
            }
            let text = String(String.UnicodeScalarView(header))
            let state = hostileText(using: &generator)
            let context = TraceContext(traceparent: text, tracestate: state)
            guard (context != nil) == Self.isWellFormed(text) else { return text.debugDescription }
            guard let context else { return nil }
            let again = TraceContext(
                traceparent: context.traceparent, tracestate: context.tracestate)
            guard again == context, Self.isWellFormed(context.traceparent) else { return text }
            let isClean = context.tracestate?.utf8.allSatisfy { $0 == 9 || (32...126).contains($0) }
            return isClean == false ? state.debugDescription : nil
        }
    }
}
