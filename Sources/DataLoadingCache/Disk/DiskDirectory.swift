// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// The directory of a cache: calls of the system below it, each of which may block.
///
/// Names are relative to its descriptor, so that it may be moved meanwhile.
final class DiskDirectory: Sendable {
    /// The folder of all entries, with the version of their format; one step removes them all.
    static let entries = "v1"
    /// The beginning of the name that this folder gets when its entries are removed.
    static let removed = "removed-"
    /// The beginning of the name of a file that is being written.
    static let unfinished = "new-"

    let descriptor: Int32
    private let faults: DiskFaults?
    private let numbers = Locked<Int64>(0)
    /// Tells the names of this object from those of other processes, also of other machines.
    private let nonce = String(UInt64.random(in: .min ... .max), radix: 16)

    init(descriptor: Int32, _ faults: DiskFaults?) {
        self.descriptor = descriptor
        self.faults = faults
    }

    deinit {
        closeDescriptor(descriptor)
    }

    /// The path of an entry.
    static func path(_ name: EntryName) -> String { "\(folder(name.folder))/\(name.text)" }

    static func folder(_ folder: String) -> String { "\(entries)/\(folder)" }

    /// A name that nothing else has.
    func freshName(_ prefix: String) -> String { "\(prefix)\(nonce)-\(numbers.next())" }

    /// Whether the directory itself was removed.
    var isGone: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    func open(_ path: String) throws(DiskFailure) -> OpenFile {
        try faults?.check(.open)
        // Opening a pipe would block.
        let file = openat(descriptor, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw DiskFailure() }
        return OpenFile(file, faults)
    }

    /// Makes a file that only its owner can read, whatever the umask.
    func create(_ path: String) throws(DiskFailure) -> OpenFile {
        try faults?.check(.create)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = openat(descriptor, path, flags, mode_t(0o600))
        guard file >= 0 else { throw DiskFailure() }
        let made = OpenFile(file, faults)
        guard fchmod(file, 0o600) == 0 else { throw DiskFailure() }
        return made
    }

    /// Makes a folder that only its owner can read, if it is not there.
    func makeFolder(_ path: String) throws(DiskFailure) {
        try faults?.check(.create)
        guard mkdirat(descriptor, path, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw DiskFailure()
        }
        guard fchmodat(descriptor, path, 0o700, 0) == 0 else { throw DiskFailure() }
    }

    func rename(_ path: String, to new: String) throws(DiskFailure) {
        try faults?.check(.rename)
        guard renameat(descriptor, path, descriptor, new) == 0 else { throw DiskFailure() }
    }

    /// Removes a file or an empty folder, if it is there.
    func remove(_ path: String, isFolder: Bool = false) throws(DiskFailure) {
        try faults?.check(.remove)
        guard unlinkat(descriptor, path, isFolder ? AT_REMOVEDIR : 0) != 0 else { return }
        if errno != ENOENT { throw DiskFailure() }
    }

    func status(_ path: String) throws(DiskFailure) -> stat {
        try faults?.check(.status)
        var status = stat()
        guard fstatat(descriptor, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw DiskFailure()
        }
        return status
    }

    /// Notes when a file was used; its time of writing says which file it is and stays.
    func noteUse(_ path: String, at nanoseconds: Int64) {
        guard faults?.fault(.note) == nil else { return }
        let times = [timespec(nanoseconds: nanoseconds), .unchanged]
        _ = utimensat(descriptor, path, times, AT_SYMLINK_NOFOLLOW)
    }

    /// The names in a folder that begin in a way; none if there is no folder.
    func names(in path: String, beginning prefix: String = "") throws(DiskFailure) -> [String] {
        try faults?.check(.list)
        let folder = openat(descriptor, path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
        guard folder >= 0 else {
            if errno == ENOENT { return [] }
            throw DiskFailure()
        }
        guard let stream = fdopendir(folder) else {
            let failure = DiskFailure()
            closeDescriptor(folder)
            throw failure
        }
        defer { closedir(stream) }
        let prefix = Array(prefix.utf8)
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes -> String? in
                guard bytes.starts(with: prefix), bytes.first != UInt8(ascii: ".") else {
                    return nil
                }
                return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { names.append(name) }
        }
        return names
    }
}
