// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A reader of logfmt lines, by the rules of `kr/logfmt` and strict about everything else.
enum Logfmt {
    struct Malformed: Error {
        let line: String
    }

    /// The values of a line by their keys.
    ///
    /// Read by scalar: a combining character after a quote makes one character with it.
    static func parse(_ line: String) throws -> [String: String] {
        var values: [String: String] = [:]
        var rest = Substring(line).unicodeScalars
        while !rest.isEmpty {
            let key = rest.prefix { $0 != "=" && $0 != " " && $0 != "\"" }
            rest = rest.dropFirst(key.count)
            guard !key.isEmpty, rest.popFirst() == "=", values[String(key)] == nil else {
                throw Malformed(line: line)
            }
            guard let value = takeValue(&rest) else { throw Malformed(line: line) }
            values[String(key)] = value
            guard rest.isEmpty || rest.popFirst() == " " else { throw Malformed(line: line) }
        }
        return values
    }

    private static func takeValue(_ rest: inout Substring.UnicodeScalarView) -> String? {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != " " }
            guard !value.isEmpty, !value.contains(where: { "=\"\\".unicodeScalars.contains($0) })
            else { return nil }
            rest = rest.dropFirst(value.count)
            return String(value)
        }
        rest = rest.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return String(value) }
            guard scalar == "\\" else {
                value.append(scalar)
                continue
            }
            guard let escaped = rest.popFirst(), escaped == "\"" || escaped == "\\" else {
                return nil
            }
            value.append(escaped)
        }
        return nil
    }
}
