// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Shows notes, and below them a status: drawn in place on a terminal, now and then as a line elsewhere.
struct Screen {
    private static let slowPace = Duration.seconds(2)

    private let isTerminal: Bool
    private let write: (String) -> Void
    /// How many lines of status stand below the notes.
    private var height = 0
    private var lastLine: Duration?

    init(isTerminal: Bool, write: @escaping (String) -> Void = Console.write) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Adds a note; a terminal's status moves down with the next drawing.
    mutating func add(_ note: Note) {
        write(erasing() + note.text + "\n")
    }

    /// Shows where the run stands.
    mutating func show(_ status: @autoclosure () -> Status, at elapsed: Duration) {
        if isTerminal {
            let lines = status().lines
            // A line that is too long for the terminal is cut, not wrapped, or erasing would miss it.
            let text = "\u{1B}[?7l" + lines.joined(separator: "\n") + "\n\u{1B}[?7h"
            write(erasing() + text)
            height = lines.count
        } else if lastLine.map({ elapsed - $0 >= Self.slowPace }) ?? true {
            lastLine = elapsed
            write(status().line + "\n")
        }
    }

    /// Puts a text in the place of the status.
    mutating func finish(with lines: [String]) {
        write(erasing() + lines.joined(separator: "\n") + "\n")
    }

    /// What takes the status off the terminal again.
    private mutating func erasing() -> String {
        guard height > 0 else { return "" }
        defer { height = 0 }
        return "\u{1B}[\(height)A\u{1B}[J"
    }
}
