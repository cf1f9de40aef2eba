// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A lock among processes: whoever has it lets go of it, or dies with it.
final class FileLock: Sendable {
    enum Attempt: Sendable {
        case taken
        /// Somebody else has it.
        case held
        /// Somebody has deleted the file: others lock another one.
        case gone
    }

    private let path: String
    private let descriptor: Int32

    /// Opens the file of a lock, which is made if it is not there.
    ///
    /// One that is a link, has a second name or is another user's is refused: in a directory that
    /// others write to they could hold it for ever.
    init(_ path: String) throws(AuthorisationError) {
        self.path = path
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        var status = stat()
        // No name is left of one that was deleted just now, which is looked for later.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_nlink <= 1
        else {
            _ = close(descriptor)
            throw .store(reason: "the lock is somebody else's")
        }
        self.descriptor = descriptor
    }

    /// Unlocks, if it was not.
    deinit {
        unlock()
        _ = close(descriptor)
    }

    /// Lets go of it.
    ///
    /// Closing would not where the process was forked meanwhile: the copy shares the lock.
    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Tries to take it.
    func take() throws(AuthorisationError) -> Attempt {
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

    /// What the last call of the system failed for, without the path.
    private static func failure() -> AuthorisationError {
        .store(reason: "cannot be locked: \(String(cString: strerror(errno)))")
    }
}
