// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Reads the samples of both text formats.
///
/// A line that is none of theirs becomes a sample named "?", which no test expects.
enum ExpositionParser {
    struct Sample: Equatable {
        var name = "?"
        var labels: [String: String] = [:]
        var value = Double.nan
        /// What follows the value: an exemplar with its number sign, or nothing.
        var rest = ""
    }

    static func samples(of bytes: [UInt8]) -> [Sample] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The last line ends, too.
        guard lines.popLast() == [] else { return [Sample()] }
        return lines.filter { $0.first != UInt8(ascii: "#") }.map { sample(of: $0) ?? Sample() }
    }

    private static func sample(of line: ArraySlice<UInt8>) -> Sample? {
        var rest = line
        var sample = Sample()
        sample.name = text(take(&rest) { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: " ") })
        if skip(&rest, "{") {
            while !skip(&rest, "}") {
                let name = text(take(&rest) { $0 != UInt8(ascii: "=") })
                guard skip(&rest, "=\""), let value = value(&rest) else { return nil }
                guard sample.labels.updateValue(value, forKey: name) == nil else { return nil }
                _ = skip(&rest, ",")
            }
        }
        guard skip(&rest, " "), let value = Double(text(take(&rest) { $0 != UInt8(ascii: " ") }))
        else { return nil }
        sample.value = value
        sample.rest = text(rest)
        return sample
    }

    /// Takes the value of a label, with the quotation mark at its end.
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return text(bytes[...])
            case UInt8(ascii: "\\"):
                guard let letter = rest.popFirst() else { return nil }
                bytes.append(letter == UInt8(ascii: "n") ? UInt8(ascii: "\n") : letter)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private static func take(
        _ rest: inout ArraySlice<UInt8>, while matches: (UInt8) -> Bool
    ) -> ArraySlice<UInt8> {
        let head = rest.prefix(while: matches)
        rest = rest.dropFirst(head.count)
        return head
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, _ literal: String) -> Bool {
        guard rest.starts(with: literal.utf8) else { return false }
        rest = rest.dropFirst(literal.utf8.count)
        return true
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
