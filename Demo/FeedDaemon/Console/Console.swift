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

/// The process's standard output and error.
enum Console {
    /// Whether text can be drawn over: standard output is a terminal.
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes at once; when nobody reads any more there is nobody to tell.
    static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Writes a line of complaint.
    static func complain(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("FeedDaemon: \(message)\n".utf8))
    }
}
