// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Creates the hidden files that sinks write, and removes those that killed processes left.
///
/// A sink holds a lock on its file for as long as the file has its hidden name. The system releases
/// the locks of a process that dies, so a hidden file without a lock is a leftover. On a file
/// system without locks no file is removed.
enum UnfinishedFiles {
    private static let prefix = ".dataloading-"
    private static let suffix = ".part"
    /// The maximum number of searched directories that are remembered, and of entries read in a
    /// directory.
    private static let maxDirectories = 1_024
    private static let maxEntries = 100_000
    private static let searched = Locked<Set<String>>([])

    /// Creates and locks a new file; on nil, `errno` has the reason.
    ///
    /// The first file in a directory since the process started also removes the leftovers there.
    static func make(in directory: URL, mode: mode_t) -> (descriptor: Int32, path: String)? {
        let isFirst = searched.withLock { searched in
            if searched.count >= maxDirectories { searched = [] }
            return searched.insert(directory.path).inserted
        }
        if isFirst { removeLeftovers(in: directory) }
        // The name is independent of the destination's, which may already have the maximum length.
        for _ in 0..<8 {
            let path = directory.appendingPathComponent(prefix + UUID().uuidString + suffix).path
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else {
                guard errno == EEXIST else { return nil }
                continue
            }
            if lock(descriptor) { return (descriptor, path) }
            // Another process found the file before it was locked, and removes it.
            _ = close(descriptor)
            unlink(path)
        }
        errno = EEXIST
        return nil
    }

    /// The mode of new files in a directory, by the process's umask, which has no other way to be
    /// read; nil when no file can be made there.
    static func usualMode(in directory: URL) -> mode_t? {
        guard let file = make(in: directory, mode: 0o666) else { return nil }
        var status = stat()
        let isThere = fstat(file.descriptor, &status) == 0
        unlink(file.path)
        _ = close(file.descriptor)
        return isThere ? status.st_mode & 0o777 : nil
    }

    /// Forgets which directories were searched.
    static func forgetSearches() {
        searched.withLock { $0 = [] }
    }

    private static func lock(_ descriptor: Int32) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return linkCount(descriptor) > 0 }
        return errno != EWOULDBLOCK
    }

    private static func linkCount(_ descriptor: Int32) -> Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_nlink) : 0
    }

    private static func removeLeftovers(in directory: URL) {
        guard let stream = opendir(directory.path) else { return }
        defer { closedir(stream) }
        for _ in 0..<maxEntries {
            guard let entry = readdir(stream) else { return }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), name.hasSuffix(suffix),
                UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
            else { continue }
            removeIfLeft(directory.appendingPathComponent(name).path)
        }
    }

    private static func removeIfLeft(_ path: String) {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlink(path)
    }
}
