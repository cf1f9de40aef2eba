// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A new private file that has its space on the disk before its content; each call may block.
final class ReservedFile: Sendable {
    private let path: String
    /// Nil once the file is in its place, or deleted.
    private let descriptor: Locked<Int32?>

    /// Creates the file, which must not exist yet; nil when the disk has no room for `size` bytes.
    init?(_ path: String, size: Int) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        self.path = path
        descriptor = Locked(file)
        // Zeros are written, because not every file system can allocate without writing. Some of
        // them allocate, and report a full disk, only in `fsync`.
        guard writeAll(Data(count: size), to: file), size == 0 || fsync(file) == 0 else {
            discard()
            return nil
        }
    }

    /// Writes the content and renames the file; deletes it and returns false when this fails.
    func fill(with content: Data, renamingTo destination: URL) -> Bool {
        guard let file = descriptor.withLock({ $0.take() }) else { return false }
        let isWritten =
            lseek(file, 0, SEEK_SET) == 0 && writeAll(content, to: file)
            && ftruncate(file, off_t(content.count)) == 0 && fsync(file) == 0
        // Some file systems report a full disk only in `close`.
        let isClosed = close(file) == 0
        guard isWritten, isClosed, rename(path, destination.path) == 0 else {
            _ = unlink(path)
            return false
        }
        synchronizeDirectory(of: destination)
        return true
    }

    /// Deletes the file, unless it is in its place.
    func discard() {
        guard let file = descriptor.withLock({ $0.take() }) else { return }
        _ = unlink(path)
        _ = close(file)
    }
}
