// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// A lock between processes by `flock`; the system releases it when the process dies.
///
/// It locks a file, which it creates. Where that cannot be created, on a full or read-only disk, it
/// locks the directory. A file is created only while the directory is locked, so that no two
/// processes have different locks. A directory that others may open is not locked, because they
/// could hold it.
final class FileLock: Sendable {
    enum Attempt: Sendable {
        case taken
        /// Another process or store has it.
        case held
        /// The file was created or deleted since it was opened: open the present one.
        case gone
    }

    private let path: String
    private let descriptor: Int32
    private let isDirectory: Bool

    /// The failures that keep every process of the user from creating a file.
    private static let unwritable = [ENOSPC, EDQUOT, EROFS, EACCES, EPERM]

    /// Opens the lock's file; its directory if there is no file yet and only the user may open it.
    init(_ path: String) throws(AuthorisationError) {
        self.path = path
        let directory = Self.openDirectory(without: path)
        isDirectory = directory != nil
        descriptor =
            if let directory { directory } else { try Self.openFile(path) }
    }

    private static func openDirectory(without path: String) -> Int32? {
        guard access(path, F_OK) != 0, errno == ENOENT else { return nil }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            _ = close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Opens the lock's file, and creates it if needed.
    ///
    /// A link, a file with a second name and another user's file are refused: in a directory that
    /// others may write to, they could hold such a lock for ever. A file that exists and cannot be
    /// written, as on a file system that was mounted again read-only, can still be locked.
    private static func openFile(_ path: String) throws(AuthorisationError) -> Int32 {
        let flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        var descriptor = open(path, flags | O_RDWR | O_CREAT, 0o600)
        if descriptor < 0 {
            let failure = Self.failure()
            if errno == EROFS || errno == EACCES { descriptor = open(path, flags | O_RDONLY) }
            guard descriptor >= 0 else { throw failure }
        }
        var status = stat()
        // A file that was deleted just now has no name left; `take` detects that.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_nlink <= 1
        else {
            _ = close(descriptor)
            throw .store(reason: "another user owns the lock")
        }
        return descriptor
    }

    /// Unlocks, if still locked.
    deinit {
        unlock()
        _ = close(descriptor)
    }

    /// Unlocks.
    ///
    /// Closing does not unlock when the process has forked: the copy shares the lock.
    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Tries to lock, without waiting.
    func take() throws(AuthorisationError) -> Attempt {
        isDirectory ? try takeDirectory() : try takeFile()
    }

    /// Locks the directory and tries to create the file, which is then locked instead.
    private func takeDirectory() throws(AuthorisationError) -> Attempt {
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        // Network file systems may lock no directory: there a file is required.
        guard isLocked || (errno != EWOULDBLOCK && errno != EINTR) else { return .held }
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let file = open(path, flags, 0o600)
        guard file >= 0 else {
            guard isLocked, Self.unwritable.contains(errno) else { throw Self.failure() }
            return .taken
        }
        _ = close(file)
        unlock()
        return .gone
    }

    private func takeFile() throws(AuthorisationError) -> Attempt {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw Self.failure() }
            return .held
        }
        var opened = stat()
        var present = stat()
        let isPresent =
            fstat(descriptor, &opened) == 0 && stat(path, &present) == 0
            && opened.st_ino == present.st_ino && opened.st_dev == present.st_dev
        return isPresent ? .taken : .gone
    }

    /// The error of the last system call, without the path.
    private static func failure() -> AuthorisationError {
        .store(reason: "cannot be locked: \(String(cString: strerror(errno)))")
    }
}
