// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct LineSplitterTests {
    /// What a splitter made of a body: its lines, and the number of a line that was too long.
    private struct Result: Equatable {
        var lines: [[UInt8]] = []
        var tooLong: Int?
    }

    private func split(
        _ pieces: [Data], ends: LineSplitter.Ends = .lineFeed, maxLength: Int = 1_000
    ) -> Result {
        var splitter = LineSplitter(ends: ends, maxLength: maxLength)
        var result = Result()
        do {
            for piece in pieces {
                splitter.add(piece)
                while let line = try splitter.next(Array.init) { result.lines.append(line) }
            }
            if let line = try splitter.finish(Array.init) { result.lines.append(line) }
        } catch {
            result.tooLong = (error as? LineSplitter.TooLong)?.number ?? -1
        }
        return result
    }

    private func lines(_ text: String, ends: LineSplitter.Ends = .lineFeed) -> [String] {
        split([Data(text.utf8)], ends: ends).lines.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\n\nb", ["a", "", "b"]),
        ("a\r\nb\r\n", ["a", "b"]), ("a\rb\n", ["a\rb"]), ("a\r\r\n", ["a\r"]), ("a\r", ["a\r"]),
        ("\u{FEFF}", []), ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\u{FEFF}\n", [""]),
        ("a\u{2028}b\u{85}c\u{0B}d\n", ["a\u{2028}b\u{85}c\u{0B}d"]),
    ])
    func `LF and CR LF end a line of a body and nothing else does`(
        text: String, expected: [String]
    ) {
        #expect(lines(text) == expected)
    }

    @Test(arguments: [
        ("a\rb\r\nc\nd", ["a", "b", "c", "d"]), ("\r\r\n\n\r", ["", "", "", ""]),
        ("a\r", ["a"]), ("\n\r", ["", ""]),
    ])
    func `LF, CR LF and CR end a line of an event stream`(text: String, expected: [String]) {
        #expect(lines(text, ends: .any) == expected)
    }

    @Test func `a line of the maximum length is returned and a longer one is not`() {
        let body = "abc\r\nabcd\n"
        #expect(split([Data(body.utf8)], maxLength: 4).tooLong == nil)
        #expect(
            split([Data(body.utf8)], maxLength: 3) == Result(lines: [Array("abc".utf8)], tooLong: 2)
        )
        // The limit is met before the end of the line is there.
        #expect(split([Data("abcd".utf8), Data("\n".utf8)], maxLength: 3).tooLong == 1)
        // A CR may be half of a line end.
        #expect(split([Data("abc\r".utf8), Data("\n".utf8)], maxLength: 3).tooLong == nil)
    }

    @Test func `a body cut anywhere has the lines of the whole`() {
        property { generator in
            let body = Self.body(using: &generator)
            let maxLength = Int.random(in: 3...20, using: &generator)
            let pieces = Pieces.cut(body, using: &generator)
            let found = split(pieces, maxLength: maxLength)
            let expected = Self.naive(body, maxLength: maxLength)
            return found == expected ? nil : "\(Array(body)) in \(pieces.map(\.count)): \(found)"
        }
    }

    private static func body(using generator: inout SeededGenerator) -> Data {
        let words: [[UInt8]] = [
            [0x0A], [0x0D], [0x0D, 0x0A], [0x61], [0x62, 0x63], [0xEF, 0xBB, 0xBF], [0xC3, 0xA9],
            [0xFF], [0x00],
        ]
        let count = Int.random(in: 0...24, using: &generator)
        return Data((0..<count).flatMap { _ in words.randomElement(using: &generator) ?? [] })
    }

    private static func naive(_ body: Data, maxLength: Int) -> Result {
        let bytes = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        let last = lines.removeLast()
        lines = lines.map { $0.last == 0x0D ? $0.dropLast() : $0 } + (last.isEmpty ? [] : [last])
        guard let long = lines.firstIndex(where: { $0.count > maxLength }) else {
            return Result(lines: lines)
        }
        return Result(lines: Array(lines[..<long]), tooLong: long + 1)
    }
}

/// Cuts a body at random places.
enum Pieces {
    static func cut(_ body: Data, using generator: inout SeededGenerator) -> [Data] {
        var pieces: [Data] = []
        var rest = body
        while !rest.isEmpty {
            let size = Int.random(in: 1...min(rest.count, 12), using: &generator)
            pieces.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return pieces
    }
}
