// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
package import Foundation

/// Writes a hidden file beside the destination, and renames it when it is complete.
package struct FileSink: BodySink {
    private let destination: URL
    private let synchronizes: Bool
    private let mode: mode_t
    private let unfinished: URL?
    private var written: Written?

    private struct Written {
        let descriptor: Int32
        let path: String
    }

    /// Makes a sink; `mode` sets the permissions of the file, limited by the process's umask.
    ///
    /// Until it is complete the file is `writtenAs`, which only this sink may use, or a file beside
    /// the destination.
    package init(
        _ destination: URL, synchronizes: Bool, mode: mode_t = 0o666, writtenAs: URL? = nil
    ) {
        unfinished = writtenAs
        self.destination = destination
        self.synchronizes = synchronizes
        self.mode = mode
    }

    package mutating func begin() throws(DataLoaderError) {
        guard let written else { return written = try create() }
        guard ftruncate(written.descriptor, 0) == 0, lseek(written.descriptor, 0, SEEK_SET) == 0
        else { throw Self.failure("the file cannot be written") }
    }

    package func write(_ bytes: Data) throws(DataLoaderError) {
        guard let written else { throw .responseSink(reason: "no response has begun") }
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Foundation.write(written.descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("the file cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    package mutating func commit() throws(DataLoaderError) {
        guard let written else { throw .responseSink(reason: "no response has begun") }
        if synchronizes, fsync(written.descriptor) != 0 {
            throw Self.failure("the file cannot be written")
        }
        self.written = nil
        // The copy of the descriptor keeps the lock until the file has its final name.
        let copy = fcntl(written.descriptor, F_DUPFD_CLOEXEC, 0)
        defer { if copy >= 0 { _ = Foundation.close(copy) } }
        // Some file systems report a full disk only in `close`.
        guard Foundation.close(written.descriptor) == 0 else {
            defer { unlink(written.path) }
            throw Self.failure("the file cannot be written")
        }
        guard rename(written.path, destination.path) == 0 else {
            defer { unlink(written.path) }
            throw Self.failure("the file cannot be put in its place")
        }
        if synchronizes { synchronizeDirectory() }
    }

    package mutating func discard() {
        guard let written else { return }
        self.written = nil
        unlink(written.path)
        _ = Foundation.close(written.descriptor)
    }

    private func create() throws(DataLoaderError) -> Written {
        guard destination.isFileURL else { throw .responseSink(reason: "not the URL of a file") }
        if let unfinished {
            let path = unfinished.path
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw Self.failure("the file cannot be made") }
            return Written(descriptor: descriptor, path: path)
        }
        let directory = destination.deletingLastPathComponent()
        guard let file = UnfinishedFiles.make(in: directory, mode: mode) else {
            throw Self.failure("the file cannot be made")
        }
        return Written(descriptor: file.descriptor, path: file.path)
    }

    /// Writes the new name to the disk too, as far as the system supports that.
    private func synchronizeDirectory() {
        let descriptor = open(destination.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = Foundation.close(descriptor)
    }

    /// Returns the error of the last system call, without the path.
    private static func failure(_ what: String) -> DataLoaderError {
        let code = errno
        let cause = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
        guard code != EMFILE, code != ENFILE else {
            return DataLoaderError(.resources(reason: "file descriptors"), underlyingError: cause)
        }
        let reason = "\(what): \(String(cString: strerror(code)))"
        return DataLoaderError(.responseSink(reason: reason), underlyingError: cause)
    }
}
