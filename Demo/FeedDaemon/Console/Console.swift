// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The process's standard output and error, unbuffered; failures to write are ignored.
enum Console {
    /// Writes a line to standard output.
    static func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Writes a line that begins with the program's name to standard error.
    static func complain(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("FeedDaemon: \(message)\n".utf8))
    }
}
