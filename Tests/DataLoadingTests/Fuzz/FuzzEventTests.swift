// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import Foundation
import Testing

/// Arbitrary bytes as an event stream.
@Suite struct FuzzEventTests {
    private static let maxSize = 60

    @Test func `the parser of event streams accepts or refuses any bytes, however they are split`()
    {
        let seeds = [
            "data: a\n\n", "id: 1\nevent: x\nretry: 5\ndata: a\ndata: b\n\n", ": c\r\rdata\r\n\r\n",
            "\u{FEFF}data:é\n\nid\n\ndata\n\n", "retry: 99999999999999999999\ndata:\n\n",
        ]
        let words = [
            "data: ", "id", "event:", "retry:", ":", "\n\n", "\r", "\r\n", "\0", " ", "\u{FEFF}",
        ]
        fuzz(seeds, words: words) { input in
            let whole = Self.parse(input, piece: max(1, input.count))
            let bytes = Self.parse(input, piece: 1)
            guard whole == bytes else { return .wrong("cut otherwise, it has other events") }
            for event in whole.events {
                // Each byte that is no UTF-8 becomes a character of three.
                guard event.data.utf8.count <= 3 * Self.maxSize, !event.event.isEmpty,
                    !event.id.utf8.contains(0), event.retry ?? .zero >= .zero
                else { return .wrong("\(event)") }
            }
            return whole.events.isEmpty ? .refused : .taken
        }
    }

    private struct Parsed: Equatable {
        var events: [ServerSentEvent] = []
        var lastID = ""
        var isTooLong = false
    }

    private static func parse(_ input: [UInt8], piece: Int) -> Parsed {
        var parser = EventParser(maxSize: maxSize)
        var parsed = Parsed()
        do {
            for start in stride(from: 0, to: input.count, by: piece) {
                parser.add(Data(input[start..<min(start + piece, input.count)]))
                while let event = try parser.next() { parsed.events.append(event) }
            }
        } catch {
            parsed.isTooLong = true
        }
        parsed.lastID = parser.lastEventID
        return parsed
    }
}
