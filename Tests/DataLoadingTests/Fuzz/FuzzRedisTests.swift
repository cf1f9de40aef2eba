// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import Testing

/// Arbitrary bytes as the replies of a server.
@Suite struct FuzzRedisTests {
    @Test func `the parser of replies accepts or refuses any bytes, however they are split`() {
        let seeds = [
            "+OK\r\n:1\r\n", "*2\r\n$1\r\na\r\n*1\r\n_\r\n", "%1\r\n+a\r\n,1.5\r\n#t\r\n",
            ">1\r\n+x\r\n-ERR y\r\n", "$-1\r\n*-1\r\n!5\r\nERR z\r\n",
            "=5\r\ntxt:a\r\n~1\r\n:-1\r\n",
        ]
        let words = [
            "\r\n", "*", "$", "%", ">", "~", "-1", "*1\r\n", "65536", "9223372036854775808", ":",
            ",",
            "inf", "(1\r\n", "|1\r\n", "+a\r\n", "$1\r\nx\r\n",
        ]
        fuzz(seeds, words: words) { input in
            let whole = Self.parse(input, piece: max(1, input.count))
            let bytes = Self.parse(input, piece: 1)
            guard whole == bytes else { return .wrong("cut otherwise, it has other replies") }
            guard whole.replies.allSatisfy({ Self.depth(of: $0) <= RESPParser.maxDepth }) else {
                return .wrong("deeper than the limit")
            }
            return whole.replies.isEmpty ? .refused : .taken
        }
    }

    private struct Parsed: Equatable {
        var replies: [RESPValue] = []
        var fault: RESPFault?
    }

    private static func parse(_ input: [UInt8], piece: Int) -> Parsed {
        var parser = RESPParser()
        var parsed = Parsed()
        do throws(RESPFault) {
            for start in stride(from: 0, to: input.count, by: piece) {
                parser.add(input[start..<min(start + piece, input.count)])
                while let reply = try parser.next() { parsed.replies.append(reply) }
            }
        } catch {
            parsed.fault = error
        }
        return parsed
    }

    /// How many arrays and maps are in one another.
    private static func depth(of value: RESPValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .map(let pairs):
            1 + (pairs.map { max(depth(of: $0.key), depth(of: $0.value)) }.max() ?? 0)
        default: 0
        }
    }
}
