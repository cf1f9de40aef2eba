// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A file, pipe or device that is open for a log; closed when it is released.
final class LogFile: Sendable {
    private static let standardError: Int32 = 2

    /// The number of bytes to write at once: to a pipe, as many as it takes whole.
    let pieceLength: Int
    private let descriptor: Int32
    private let isRegular: Bool

    /// Opens an output.
    ///
    /// Without `O_NONBLOCK` the opening of a named pipe would wait until it has a reader.
    init(_ output: AccessLog.Output) throws(LogFileError) {
        switch output {
        case .standardError: descriptor = Self.standardError
        case .file(let path):
            descriptor = try Self.open(path)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        }
        var status = stat()
        isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        pieceLength = isRegular ? 65_536 : LogLine.maxLength
    }

    deinit {
        if descriptor != Self.standardError { closeDescriptor(descriptor) }
    }

    /// Writes lines; returns how many of them could not be written, which are the last ones.
    ///
    /// It waits for as long as the reader of a pipe, or a disk, makes it wait.
    func write(_ lines: [UInt8]) -> Int {
        var written = 0
        while written < lines.count {
            let count = lines[written...].withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                written += count
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                waitForRoom()
            } else {
                let whole = lines[..<written].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                removeLast(written - whole)
                return Array(lines[whole...]).lineCount
            }
        }
        return 0
    }

    /// Waits on a pipe that does not block, as standard error may be set by another process.
    private func waitForRoom() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
    }

    /// Removes the beginning of a line for whose end a disk had no room.
    ///
    /// Only if nothing follows it: another process may append to the same file.
    private func removeLast(_ count: Int) {
        guard count > 0, isRegular else { return }
        let end = lseek(descriptor, 0, SEEK_CUR)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == end else { return }
        _ = ftruncate(descriptor, end - off_t(count))
        // Standard error need not append, and would leave a hole.
        _ = lseek(descriptor, end - off_t(count), SEEK_SET)
    }

    /// Opens a path, or makes a file there.
    ///
    /// A new file gets the mode 0640 whatever the process masks; one that a rotation has made keeps
    /// its own.
    private static func open(_ path: String) throws(LogFileError) -> Int32 {
        // A program that the process starts gets no descriptor of the log.
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        guard !path.utf8.contains(0) else { throw LogFileError(path: path, code: EINVAL) }
        // A rotation may make or rename the file between two calls.
        for _ in 0..<8 {
            let present = Foundation.open(path, flags)
            if present >= 0 { return present }
            guard errno == ENOENT else { break }
            let new = Foundation.open(path, flags | O_CREAT | O_EXCL, 0o640)
            if new >= 0 {
                _ = fchmod(new, 0o640)
                return new
            }
            guard errno == EEXIST else { break }
        }
        throw LogFileError(path: path, code: errno)
    }
}

/// A file of a log could not be opened.
struct LogFileError: Error, Hashable, CustomStringConvertible {
    /// The path as it was given.
    let path: String
    /// The value of `errno`.
    let code: Int32

    /// The system's words for the error.
    var reason: String { String(cString: strerror(code)) }

    /// The path and the reason.
    var description: String { "\(path): \(reason)" }
}
