// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A demo as its users start it: a process with arguments, output and an exit status.
struct DemoProcess: Sendable {
    let status: Int32
    let output: String
    let errors: String

    /// Runs a demo to its end; the signal, if there is one, is sent after its first line of log.
    static func run(
        _ name: String, _ arguments: [String] = [], signal: Int32? = nil
    ) async throws -> Self {
        try await run(name) { try run($0, arguments, signal: signal) }
    }

    /// Runs a demo whose process and output `operate` gets, and ends if necessary; it must write less
    /// than a pipe holds to standard error.
    static func run(
        _ name: String, _ arguments: [String], _ variables: [String: String],
        operate: @escaping @Sendable (_ process: Int32, _ output: Output) throws -> Void
    ) async throws -> Self {
        try await run(name) { executable in
            try run(executable, arguments, variables) { process, output, _ in
                do {
                    try operate(process, output)
                } catch {
                    kill(process, SIGKILL)
                    throw error
                }
                return Data()
            }
        }
    }

    /// Calls `body` with the executable, on a thread that may wait.
    private static func run(
        _ name: String, _ body: @escaping @Sendable (URL) throws -> Self
    ) async throws -> Self {
        // The executables are beside the tests, whatever the scratch path and the configuration.
        let tests = try #require(Bundle.main.executableURL)
        let executable = tests.deletingLastPathComponent().appending(path: name)
        try #require(FileManager.default.isExecutableFile(atPath: executable.path()))
        return try await withCheckedThrowingContinuation { continuation in
            // Waiting for a process blocks, which no thread of the concurrency pool may do.
            Thread.detachNewThread {
                continuation.resume(with: Result { try body(executable) })
            }
        }
    }

    private static func run(
        _ executable: URL, _ arguments: [String], signal: Int32?
    ) throws -> Self {
        try run(executable, arguments, [:]) { process, _, errors in
            let begun = errors.availableData
            if let signal { kill(process, signal) }
            return begun
        }
    }

    private static func run(
        _ executable: URL, _ arguments: [String], _ variables: [String: String],
        _ whileRunning: (_ process: Int32, _ output: Output, _ errors: FileHandle) throws -> Data
    ) throws -> Self {
        // A file has room for all output while the other stream is read.
        let directory = TemporaryDirectory()
        let output = try directory.write(Data(), to: "output")
        let (process, errors) = (Process(), Pipe())
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = errors
        process.environment = environment.merging(variables) { $1 }
        try process.run()
        var text = try whileRunning(
            process.processIdentifier, Output(file: output), errors.fileHandleForReading)
        text += try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Self(
            status: process.terminationReason == .exit ? process.terminationStatus : -1,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: text, as: UTF8.self))
    }

    /// What a demo that runs has written to standard output.
    struct Output: Sendable {
        fileprivate let file: URL

        /// Waits until a text is in it, five minutes at most.
        func waitFor(_ text: String) throws {
            let end = ContinuousClock.now + .seconds(300)
            while !String(decoding: try Data(contentsOf: file), as: UTF8.self).contains(text) {
                guard .now < end else { throw POSIXError(.ETIMEDOUT) }
                usleep(10_000)
            }
        }
    }

    /// The system's libcurl leaks a little, which these tests do not look for.
    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        let options = environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
        environment["ASAN_OPTIONS"] = options + "detect_leaks=0"
        return environment
    }
}
