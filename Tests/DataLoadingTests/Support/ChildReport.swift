// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Testing

    /// What the child process of a test reports: figures and violations.
    ///
    /// A process that failed by its exit status alone would lose its figures.
    enum ChildReport {
        private static let mark = "violation: "

        /// Writes a line to the parent process at once.
        static func tell(_ words: String...) {
            let line = words.joined(separator: " ") + "\n"
            FileHandle.standardOutput.write(Data(line.utf8))
        }

        /// Reports a violation unless the condition holds.
        static func require(_ isRight: Bool, _ what: String) {
            if !isRight { tell(mark + what) }
        }

        /// Runs what the child does and reports an error as a violation: one that leaves the child's
        /// body ends its process by a signal, and its report is lost.
        static func run(_ body: () async throws -> Void) async {
            do {
                try await body()
            } catch {
                require(false, "\(error)")
            }
        }

        /// Prints the report; records an issue for each violation and if there is no report.
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
