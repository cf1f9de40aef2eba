// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Testing

    /// What a test's process of its own says of itself: figures, and what is wrong with them.
    ///
    /// A process that failed by its status would take its figures with it.
    enum ChildReport {
        private static let mark = "violation: "

        /// Writes a line for whoever started the process, at once.
        static func tell(_ words: String...) {
            let line = words.joined(separator: " ") + "\n"
            FileHandle.standardOutput.write(Data(line.utf8))
        }

        /// Tells that something must hold and does not.
        static func require(_ isRight: Bool, _ what: String) {
            if !isRight { tell(mark + what) }
        }

        /// Prints what the process told; an issue for each violation, and when there is nothing.
        static func check(
            _ result: ExitTest.Result?, begins word: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            print(text)
            let lines = text.split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix(word) }, sourceLocation: sourceLocation)
            for line in lines where line.hasPrefix(mark) {
                Issue.record("\(line.dropFirst(mark.count))", sourceLocation: sourceLocation)
            }
        }
    }
#endif
