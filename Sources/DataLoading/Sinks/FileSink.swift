// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Writes a hidden file beside the destination, and renames it when it is complete.
struct FileSink: BodySink {
    private let destination: URL
    private let synchronizes: Bool
    private let mode: mode_t
    private let sha256: [UInt8]?
    private var written: Written?

    private struct Written {
        let descriptor: Int32
        let path: String
        var count: Int64 = 0
        var hash = SHA256()
    }

    /// Makes a sink; `mode` sets the permissions of the file, limited by the process's umask.
    ///
    /// With `sha256` the file must have that hash.
    init(
        _ destination: URL, synchronizes: Bool, mode: mode_t = 0o666, sha256: [UInt8]? = nil
    ) {
        self.sha256 = sha256
        self.destination = destination
        self.synchronizes = synchronizes
        self.mode = mode
    }

    /// Takes over an open file, to write after its first bytes.
    mutating func adopt(
        _ descriptor: Int32, at path: String, count: Int64 = 0, hash: SHA256 = SHA256()
    ) {
        written = Written(descriptor: descriptor, path: path, count: count, hash: hash)
    }

    /// The number of bytes of the unfinished file; nil when there is none.
    var size: Int64? {
        var status = stat()
        guard let written, fstat(written.descriptor, &status) == 0 else { return nil }
        return Int64(status.st_size)
    }

    mutating func begin(_ response: DataLoaderResponse) throws(DataLoaderError) {
        if written == nil { try DescriptorReserve.checkRoom() }
        try begin()
    }

    mutating func begin() throws(DataLoaderError) {
        guard let old = written else { return written = try create() }
        guard ftruncate(old.descriptor, 0) == 0, lseek(old.descriptor, 0, SEEK_SET) == 0
        else { throw .ofFile("the file cannot be written") }
        written = Written(descriptor: old.descriptor, path: old.path)
    }

    mutating func write(_ bytes: Data) throws(DataLoaderError) {
        guard let descriptor = written?.descriptor else {
            throw .responseSink(reason: "no response has begun")
        }
        guard writeAll(bytes, to: descriptor) else { throw .ofFile("the file cannot be written") }
        written?.count += Int64(bytes.count)
        if sha256 != nil { bytes.withUnsafeBytes { written?.hash.update($0) } }
    }

    /// Sets the permissions of the unfinished file, whatever the process's umask.
    func setMode(_ mode: mode_t) throws(DataLoaderError) {
        guard let written, fchmod(written.descriptor, mode) == 0 else {
            throw .ofFile("the mode of the file cannot be set")
        }
    }

    /// Checks that the unfinished file is what was written, and writes it to the disk if that is
    /// wanted.
    func complete() throws(DataLoaderError) {
        guard let written else { throw .responseSink(reason: "no response has begun") }
        guard size == written.count else {
            throw .responseSink(reason: "the file was changed while it was written")
        }
        if let sha256, written.hash.hash != sha256 { throw .digestMismatch }
        if synchronizes, fsync(written.descriptor) != 0 {
            throw .ofFile("the file cannot be written")
        }
    }

    /// Gives a complete file its name; on an error it stays as it is, open and locked.
    ///
    /// It is closed after that, so it must have been written to the disk: `close` reports what
    /// `fsync` has not.
    mutating func putInPlace() throws(DataLoaderError) {
        guard let complete = written else { throw .responseSink(reason: "no response has begun") }
        guard rename(complete.path, destination.path) == 0 else {
            throw .ofFile("the file cannot be put in its place")
        }
        written = nil
        _ = Foundation.close(complete.descriptor)
        if synchronizes { synchronizeDirectory(of: destination) }
    }

    mutating func commit() throws(DataLoaderError) {
        try complete()
        guard let written = written.take() else { return }
        // The copy of the descriptor keeps the lock until the file has its final name.
        let copy = fcntl(written.descriptor, F_DUPFD_CLOEXEC, 0)
        defer { if copy >= 0 { _ = Foundation.close(copy) } }
        // Some file systems report a full disk only in `close`.
        guard Foundation.close(written.descriptor) == 0 else {
            defer { unlink(written.path) }
            throw .ofFile("the file cannot be written")
        }
        guard rename(written.path, destination.path) == 0 else {
            defer { unlink(written.path) }
            throw .ofFile("the file cannot be put in its place")
        }
        if synchronizes { synchronizeDirectory(of: destination) }
    }

    /// Closes the unfinished file, which stays.
    ///
    /// Closing does not unlock it while the process starts another: until it runs its own program the
    /// copy has the descriptor too, and shares the lock.
    mutating func keep() {
        guard let written = written.take() else { return }
        _ = flock(written.descriptor, LOCK_UN)
        _ = Foundation.close(written.descriptor)
    }

    mutating func discard() {
        guard let written else { return }
        self.written = nil
        unlink(written.path)
        _ = Foundation.close(written.descriptor)
    }

    private func create() throws(DataLoaderError) -> Written {
        guard destination.isFileURL else { throw .responseSink(reason: "not the URL of a file") }
        let directory = destination.deletingLastPathComponent()
        guard let file = UnfinishedFiles.make(in: directory, mode: mode) else {
            throw .ofFile("the file cannot be made")
        }
        return Written(descriptor: file.descriptor, path: file.path)
    }
}
