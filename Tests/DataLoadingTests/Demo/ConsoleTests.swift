// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import FeedDaemon

@Suite struct ConsoleTests {
    @Test func `columns are as wide as their widest cell`() {
        var table = TextTable([("name", .left), ("n", .right), ("", .left)])
        table.add(["a", "1000"])
        table.addRule()
        table.add(["longer", "7", "x"])
        #expect(
            table.lines == [
                "name       n", "a       1000", "------  ----  -", "longer     7  x",
            ])
    }

    @Test func `figures are short and have their unit`() {
        #expect(
            [0, 999, 1_000, 1_250_000, 5_000_000_000].map { Int64($0).bytes } == [
                "0 B", "999 B", "1.0 kB", "1.2 MB", "5.00 GB",
            ])
        #expect(Duration.microseconds(1_500).text == "1.5 ms")
        #expect(Duration.milliseconds(1_234).text == "1.23 s")
        #expect(Duration.milliseconds(1_234).milliseconds == "1234 ms")
        #expect(6.0.figure == "6")
        #expect(5.26.figure == "5.3")
    }

    private let status = Status(elapsed: .zero, duration: .seconds(1), rows: [], peers: [])
    private let note = Note(time: .zero, who: "origin", what: "dies")

    @Test func `a terminal's status is taken off before anything else is written`() {
        let output = Output()
        var screen = Screen(isTerminal: true, write: output.write)
        screen.show(status, at: .zero)
        #expect(!output.text.contains("\u{1B}[J"))
        screen.add(note)
        #expect(output.text.hasSuffix("\u{1B}[3A\u{1B}[J" + note.text + "\n"))
        screen.show(status, at: .zero)
        screen.finish(with: ["end"])
        #expect(output.text.hasSuffix("\u{1B}[3A\u{1B}[Jend\n"))
    }

    @Test func `elsewhere there are lines without escapes, at a slow pace`() {
        let output = Output()
        var screen = Screen(isTerminal: false, write: output.write)
        for tenths in 0..<41 { screen.show(status, at: .milliseconds(100 * tenths)) }
        screen.add(note)
        screen.finish(with: ["end"])
        #expect(output.text.split(separator: "\n").count == 3 + 1 + 1)
        #expect(!output.text.contains("\u{1B}"))
    }

    private final class Output {
        private(set) var text = ""

        func write(_ piece: String) { text += piece }
    }
}
