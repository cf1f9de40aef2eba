// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads a file that another process may replace at any time; each call may block.
enum SmallFile {
    /// The reason why a file was not read.
    enum Fault: Error {
        /// The system does not open it; the number is `errno`.
        case unreadable(Int32)
        case notAFile
        case tooLarge
    }

    /// The maximum number of bytes that are read.
    static let maxSize = 1_048_576

    /// Reads a whole file, once `check` has allowed what was opened.
    static func read(_ path: String, _ check: (stat) throws -> Void = { _ in }) throws -> Data {
        // Opening a pipe would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Fault.unreadable(errno) }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Fault.unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault.notAFile }
        try check(status)
        guard status.st_size <= maxSize else { throw Fault.tooLarge }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return try handle.read(upToCount: maxSize) ?? Data()
    }
}
