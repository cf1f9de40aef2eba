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
            FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws {
        var figures: [Figure] = []
        for measure in try Measures.chosen(by: options) {
            let found = try await measure.init(options: options).run().compared
            let text = "measure \(measure.number)\n\(Table(figures: found).text)\n"
            FileHandle.standardOutput.write(Data(text.utf8))
            figures += found
            // After each measure, so that a later one that fails takes nothing with it.
            if let file = options.jsonFile { try Figure.write(figures, to: file) }
        }
    }
}
