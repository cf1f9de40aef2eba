// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

import Foundation
import Testing

/// The daemon as its users start it: a process with arguments, output and an exit status.
struct FeedDaemonProcess: Sendable {
    let status: Int32
    let output: String
    let errors: String

    /// The executable stands beside the tests, whatever the scratch path and the configuration.
    private static func executable() throws -> URL {
        let tests = try #require(Bundle.main.executableURL)
        let url = tests.deletingLastPathComponent().appending(path: "FeedDaemon")
        try #require(FileManager.default.isExecutableFile(atPath: url.path()))
        return url
    }

    /// Runs it to its end; a signal, if there is one, is sent with its first output.
    static func run(_ arguments: String..., signal: Int32? = nil) async throws -> Self {
        let executable = try executable()
        return try await withCheckedThrowingContinuation { continuation in
            // Waiting for a process blocks, which no thread of the concurrency pool may do.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try run(executable, arguments, signal: signal) })
            }
        }
    }

    private static func run(
        _ executable: URL, _ arguments: [String], signal: Int32?
    ) throws -> Self {
        let (process, output, errors) = (Process(), Pipe(), Pipe())
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        process.environment = environment
        try process.run()
        var text = output.fileHandleForReading.availableData
        if let signal { kill(process.processIdentifier, signal) }
        text += try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Self(
            status: process.terminationReason == .exit ? process.terminationStatus : -1,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self))
    }

    /// The system's libcurl is not free of leaks, which are not what is tested here.
    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        let options = environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
        environment["ASAN_OPTIONS"] = options + "detect_leaks=0"
        return environment
    }
}
