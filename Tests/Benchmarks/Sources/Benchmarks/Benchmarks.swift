// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// The command: one measure, a table for people and a file for programs.
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
                try await runChild(child)
            } else {
                try await run(options)
            }
        } catch {
            FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws {
        let figures =
            switch options.measure {
            case SmallGets.number: try SmallGets(options: options).run()
            case Layers.number: try await Layers(options: options).run()
            case WaitingLoads.number: try await WaitingLoads(options: options).run()
            case MemoryGrowth.number: try await MemoryGrowth(options: options).run()
            case Sequences.number: try await Sequences(options: options).run()
            case Hits.number: try await Hits(options: options).run()
            default: throw Complaint("there is no measure \(options.measure)")
            }
        if let file = options.jsonFile { try Figure.write(figures, to: file) }
    }

    private static func runChild(_ job: String) async throws {
        let run = try JSONDecoder().decode(ChildRun.self, from: Data(job.utf8))
        let outcome = try await run.perform()
        FileHandle.standardOutput.write(try JSONEncoder().encode(outcome))
    }
}
