// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// The hidden files of a download that may be continued, beside its destination: the part and its
/// record.
///
/// Their names are made of the digest of the destination's, which may already have the maximum
/// length. Each call may block.
struct PartPlace: Sendable {
    private static let attempts = 8
    let part: String
    let record: URL
    let directory: URL

    init(beside destination: URL) {
        directory = destination.deletingLastPathComponent()
        let digest = SHA256.hex(SHA256.hash(destination.lastPathComponent.utf8).prefix(16))
        let name = ".dataloading-resume-\(digest)"
        part = directory.appendingPathComponent("\(name).part").path
        record = directory.appendingPathComponent("\(name).json")
    }

    /// Opens the part for reading and writing, or makes it, and locks it.
    ///
    /// The system releases the lock of a process that dies. Where another user may have written to
    /// the part, it is empty then.
    ///
    /// - Throws: `.responseSink` when another load has the lock, or when it is no file of this user.
    func open() throws(DataLoaderError) -> Int32 {
        for _ in 0..<Self.attempts {
            // Opening a pipe would block.
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = Foundation.open(part, flags, mode_t(0o600))
            guard descriptor >= 0 else { throw .ofFile("the part cannot be opened") }
            do throws(DataLoaderError) {
                if try isReady(descriptor) { return descriptor }
            } catch {
                closeDescriptor(descriptor)
                throw error
            }
            closeDescriptor(descriptor)
        }
        throw .responseSink(reason: "the part is removed again and again")
    }

    /// Locks a part and checks it; false when it was renamed or removed before it was locked.
    private func isReady(_ descriptor: Int32) throws(DataLoaderError) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .ofFile(
                errno == EWOULDBLOCK
                    ? "another load is writing the file" : "the part cannot be locked")
        }
        var opened = stat()
        var present = stat()
        guard fstat(descriptor, &opened) == 0 else { throw .ofFile("the part cannot be read") }
        guard lstat(part, &present) == 0, present.st_ino == opened.st_ino,
            present.st_dev == opened.st_dev
        else { return false }
        guard opened.st_mode & S_IFMT == S_IFREG, opened.st_uid == geteuid(), opened.st_nlink == 1
        else { throw .responseSink(reason: "the part is no file of this user's own") }
        guard opened.st_mode & 0o777 != 0o600 else { return true }
        guard fchmod(descriptor, 0o600) == 0,
            opened.st_mode & 0o022 == 0 || ftruncate(descriptor, 0) == 0
        else { throw .ofFile("the part cannot be protected") }
        return true
    }

    /// Reads the record; nil when there is none that can be trusted.
    ///
    /// - Throws: `.resources` when there is no descriptor to read it with.
    func readRecord() throws(DataLoaderError) -> PartRecord? {
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Foundation.open(record.path, flags)
        guard descriptor >= 0 else {
            // The part may be good, and would begin anew.
            guard errno != EMFILE, errno != ENFILE else { throw .ofFile("the record of the part") }
            return nil
        }
        defer { closeDescriptor(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0
        else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return (try? handle.read(upToCount: PartRecord.maxSize)).flatMap { PartRecord($0) }
    }

    /// Writes the record in one step.
    func write(_ new: PartRecord) throws {
        var sink = FileSink(record, synchronizes: false, mode: 0o600)
        do {
            try sink.begin()
            try sink.write(try JSONEncoder().encode(new))
            try sink.commit()
        } catch {
            sink.discard()
            throw error
        }
    }

    /// Removes the record: the part begins another body from now on.
    func removeRecord() throws(DataLoaderError) {
        guard unlink(record.path) != 0, errno != ENOENT else { return }
        throw .ofFile("the record of the part cannot be removed")
    }
}
