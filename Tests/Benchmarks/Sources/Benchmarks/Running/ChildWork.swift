// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Work in a child process, whose usage is its own and which leaves no state behind.
protocol ChildWork: Codable, Sendable {
    associatedtype Outcome: Codable & Sendable

    /// The option of the command line that carries the work, as JSON.
    static var option: String { get }

    /// Does the work, in the child.
    func perform() async throws -> Outcome
}

extension ChildWork {
    /// Starts a child and returns its result.
    func start() throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let job = try JSONEncoder().encode(self)
        process.arguments = [Self.option, String(decoding: job, as: UTF8.self)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Complaint("\(Self.option) ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Outcome.self, from: text)
    }

    /// Does the work that a command line describes and writes its result.
    static func run(_ job: String) async throws {
        let work = try JSONDecoder().decode(Self.self, from: Data(job.utf8))
        let outcome = try await work.perform()
        FileHandle.standardOutput.write(try JSONEncoder().encode(outcome))
    }
}

/// The kinds of work that a child may do.
enum ChildWorks {
    static let all: [any ChildWork.Type] = [
        ChildRun.self, TransferRun.self, PacedRun.self, IdleRun.self, WatchedRun.self,
    ]
}
