// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The system's Python, as a reader of what this package writes.
enum Python {
    /// Whether there is one.
    static var isInstalled: Bool { path != nil }

    private static let path = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
        .map { "\($0)/python3" }.first(where: FileManager.default.isExecutableFile)

    /// Runs a script with a file as its only argument; returns its output, nil if it failed.
    static func run(_ script: String, on file: URL) async throws -> String? {
        try await withCheckedThrowingContinuation { continuation in
            // Waiting for a process blocks, which no thread of the concurrency pool may do.
            Thread.detachNewThread {
                continuation.resume(with: Result { try wait(script, file) })
            }
        }
    }

    private static func wait(_ script: String, _ file: URL) throws -> String? {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path ?? "/usr/bin/python3")
        process.arguments = ["-c", script, file.path]
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
