// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct EventParserTests {
    private func parse(
        _ pieces: [Data], maxSize: Int = 1_000
    ) throws -> (events: [ServerSentEvent], parser: EventParser) {
        var parser = EventParser(maxSize: maxSize)
        var events: [ServerSentEvent] = []
        for piece in pieces {
            parser.add(piece)
            while let event = try parser.next() { events.append(event) }
        }
        return (events, parser)
    }

    private func events(_ text: String) throws -> [ServerSentEvent] {
        try parse([Data(text.utf8)]).events
    }

    // The examples of the HTML standard, section 9.2, in its order.
    private static let examples: [(stream: String, events: [ServerSentEvent])] = [
        (
            "data: This is the first message.\n\ndata: This is the second message, it\n"
                + "data: has two lines.\n\ndata: This is the third message.\n\n",
            [
                ServerSentEvent(data: "This is the first message."),
                ServerSentEvent(data: "This is the second message, it\nhas two lines."),
                ServerSentEvent(data: "This is the third message."),
            ]
        ),
        (
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\n"
                + "data: 113411\n\n",
            [
                ServerSentEvent(event: "add", data: "73857293"),
                ServerSentEvent(event: "remove", data: "2153"),
                ServerSentEvent(event: "add", data: "113411"),
            ]
        ),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
                + "data:  third event\n",
            [
                ServerSentEvent(id: "1", data: "first event"),
                ServerSentEvent(data: "second event"),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
        (
            "data:test\n\ndata: test\n\n",
            [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]
        ),
    ]

    @Test(arguments: examples.indices)
    func `the examples of the standard give its events`(index: Int) throws {
        #expect(try events(Self.examples[index].stream) == Self.examples[index].events)
    }

    @Test(arguments: [
        ("\u{FEFF}data: a\n\n", [ServerSentEvent(data: "a")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("data: a\r\rdata: b\r\n\r\n", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
        ("id: 1\ndata: a\n\ndata: b\n\n", [.init(id: "1", data: "a"), .init(id: "1", data: "b")]),
        ("id: 1\nid: 2\0\ndata: a\n\n", [ServerSentEvent(id: "1", data: "a")]),
        ("event: x\n\ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("retry: 50\ndata: a\n\ndata: b\n\n", [.init(data: "a", retry: ms(50)), .init(data: "b")]),
        ("retry: 5 \ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("retry: -5\ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("retry\nretry: \u{0665}\ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("Data: a\ndatum: b\n data: c\ndata : d\n\n", []),
        ("data:  a \n\n", [ServerSentEvent(data: " a ")]),
        ("data:a:b\n\n", [ServerSentEvent(data: "a:b")]),
        ("data: a\n\ndata: cut", [ServerSentEvent(data: "a")]),
        ("event:\ndata: a\n\n", [ServerSentEvent(data: "a")]),
    ])
    func `fields are read as the standard says`(
        text: String, expected: [ServerSentEvent]
    ) throws {
        #expect(try events(text) == expected)
    }

    @Test func `a reconnection time with more digits than a number has is the longest`() throws {
        let digits = String(repeating: "9", count: 100)
        let (_, parser) = try parse([Data("retry: \(digits)\n".utf8)])
        #expect(parser.reconnectionTime == .milliseconds(Int64.max))
    }

    @Test func `an ID counts once its event is complete, also without data`() throws {
        var (_, parser) = try parse([Data("id: 1\n\nid: 2\ndata: cut\n".utf8)])
        #expect(parser.lastEventID == "1")
        parser.reset()
        parser.add(Data("data: a\n\n".utf8))
        #expect(try parser.next() == ServerSentEvent(id: "1", data: "a"))
    }

    @Test func `an event is refused when its data or a line of it exceeds the limit`() throws {
        let short = Data("data:12345\n\n".utf8)
        #expect(try parse([short], maxSize: 10).events.count == 1)
        #expect(throws: EventParser.TooLong.self) { try parse([short], maxSize: 9) }
        let lines = Data("data:1\ndata:2\ndata:3\ndata:4\ndata:5\ndata:6\n\n".utf8)
        #expect(try parse([lines], maxSize: 11).events.count == 1)
        #expect(throws: EventParser.TooLong.self) { try parse([lines], maxSize: 10) }
        #expect(throws: EventParser.TooLong.self) {
            try parse([Data(": a comment without an end".utf8)], maxSize: 10)
        }
    }

    @Test func `a stream cut anywhere has the events of the whole`() throws {
        try property { generator in
            let stream = Self.stream(using: &generator)
            let pieces = Pieces.cut(stream, using: &generator)
            let (events, parser) = try parse(pieces)
            let naive = NaiveEventSource(stream)
            guard events == naive.events, parser.lastEventID == naive.lastEventID else {
                return "\(Array(stream)) in \(pieces.map(\.count)): \(events)"
            }
            return nil
        }
    }

    private static func stream(using generator: inout SeededGenerator) -> Data {
        let words = [
            "data", "data: ", "event:", "id:", "id: ", "retry:", ":", " ", "\n", "\n", "\n\n", "\r",
            "\r\n", "1", "25", "a", "é", "\0", "\u{FEFF}",
        ]
        var stream = Data()
        for _ in 0..<Int.random(in: 0...40, using: &generator) {
            let isByte = Int.random(in: 0..<12, using: &generator) == 0
            if isByte {
                stream.append(UInt8.random(in: 0...255, using: &generator))
            } else {
                stream += Data((words.randomElement(using: &generator) ?? "").utf8)
            }
        }
        return stream
    }
}

/// Reads a whole stream at once, step by step as the standard describes it.
private struct NaiveEventSource {
    private(set) var events: [ServerSentEvent] = []
    private(set) var lastEventID = ""

    init(_ stream: Data) {
        var text = Array(String(decoding: stream, as: UTF8.self).unicodeScalars)
        if text.first == "\u{FEFF}" { text.removeFirst() }
        var (data, type, id) = ("", "", "")
        var retry: Duration?
        for line in Self.lines(text) {
            guard !line.isEmpty else {
                lastEventID = id
                if !data.isEmpty {
                    data.unicodeScalars.removeLast()
                    let event = type.isEmpty ? "message" : type
                    events.append(ServerSentEvent(id: id, event: event, data: data, retry: retry))
                }
                (data, type, retry) = ("", "", nil)
                continue
            }
            let colon = line.firstIndex(of: ":") ?? line.count
            var value = line[min(colon + 1, line.count)...]
            if value.first == " " { value = value.dropFirst() }
            switch Self.text(line[..<colon]) {
            case "data": data += Self.text(value) + "\n"
            case "event": type = Self.text(value)
            case "id" where !value.contains("\0"): id = Self.text(value)
            case "retry" where !value.isEmpty && value.allSatisfy { ("0"..."9").contains($0) }:
                retry = Int64(Self.text(value)).map { .milliseconds($0) }
            default: break
            }
        }
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    /// The lines that have an end.
    private static func lines(_ text: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
        var lines: [[Unicode.Scalar]] = [[]]
        for (index, scalar) in text.enumerated() {
            if scalar == "\n", index > 0, text[index - 1] == "\r" { continue }
            if scalar == "\n" || scalar == "\r" {
                lines.append([])
            } else {
                lines[lines.count - 1].append(scalar)
            }
        }
        return lines.dropLast()
    }
}
