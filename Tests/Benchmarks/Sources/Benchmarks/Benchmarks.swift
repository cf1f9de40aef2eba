// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// The command: one measure or all, a table for people and a file for programs.
@main
enum Benchmarks {
    static func main() {
        // An asynchronous `main` would end the main thread, which valgrind does not survive.
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await obey()
            done.signal()
        }
        done.wait()
    }

    private static func obey() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if let child = options.child {
                try await child.work.run(child.job)
            } else {
                try await run(options)
            }
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    /// Takes one measure after the other; one that fails does not keep the others from being taken.
    private static func run(_ options: Options) async throws {
        if let file = options.figuresFile {
            guard let directory = options.plots else { throw Complaint("--plots is missing") }
            return try PlotKind.write(Figure.read(from: file), to: directory)
        }
        var figures: [Figure] = []
        var failed: [Int] = []
        for measure in try Measures.chosen(by: options) {
            do {
                let found = try await measure.init(options: options).run().compared
                let text = "measure \(measure.number)\n\(Table(figures: found).text)\n"
                FileHandle.standardOutput.write(Data(text.utf8))
                figures += found
            } catch {
                complain("measure \(measure.number): \(error)")
                failed.append(measure.number)
            }
            // After each measure, so that a run that is ended has written what it has found.
            if let file = options.jsonFile { try Figure.write(figures, to: file) }
            if let directory = options.plots { try PlotKind.write(figures, to: directory) }
        }
        guard failed.isEmpty else { throw Complaint("measures \(failed) failed") }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("Benchmarks: \(text)\n".utf8))
    }
}
