// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Reads, replaces and deletes a file of credentials; each call may block.
struct CredentialFile: Sendable {
    /// The file after links, so that programs with different links use one file and one lock.
    let url: URL

    /// The suffix of a file that is being written.
    private static let unfinished = ".new"
    /// The age in seconds from which such a file counts as abandoned.
    private static let staleness = 60.0
    /// The bytes by which new credentials may be longer than those that they replace.
    private static let margin = 16_384
    /// The maximum number of links that are followed in a row, as on Linux.
    private static let maxLinks = 40

    /// Follows the links of `given`.
    init(_ given: URL) {
        var file = given
        // Foundation does not resolve a link whose target does not exist yet.
        for _ in 0..<Self.maxLinks {
            let directory = file.deletingLastPathComponent().resolvingSymlinksInPath()
            file = directory.appendingPathComponent(file.lastPathComponent)
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)
            guard let target else { break }
            file = URL(fileURLWithPath: target, relativeTo: directory).absoluteURL
        }
        url = file
    }

    /// Reads the credentials; nil when there are none.
    func read() throws -> OAuthCredentials? {
        try read { status in
            guard status.st_mode & 0o077 == 0 else {
                throw AuthorisationError.store(reason: "others can read the file")
            }
        }
    }

    /// Reads the credentials for a log-out, also when others can read the file.
    ///
    /// Deletes one's own file when its mode or its content does not let it be read.
    func readOrDelete() throws -> OAuthCredentials? {
        do {
            return try read { _ in }
        } catch let error as AuthorisationError where Self.deletable.contains(error) {
            try delete()
            return nil
        }
    }

    private func read(_ check: (stat) throws -> Void) throws -> OAuthCredentials? {
        guard let bytes = try content(check) else { return nil }
        do {
            // A deletion first writes "null".
            return try JSONDecoder().decode(OAuthCredentials?.self, from: bytes)
        } catch {
            throw Self.broken
        }
    }

    private func content(_ check: (stat) throws -> Void) throws -> Data? {
        do {
            return try SmallFile.read(url.path) { status in
                // Root could read another user's file, and would then use that user's account.
                guard status.st_uid == geteuid() else { throw Self.foreign }
                try check(status)
            }
        } catch SmallFile.Fault.unreadable(ENOENT) {
            return nil
        } catch SmallFile.Fault.unreadable(let code) {
            throw Self.failure("cannot be read", code)
        } catch SmallFile.Fault.notAFile {
            throw Self.notAFile
        } catch SmallFile.Fault.tooLarge {
            throw Self.tooLarge
        }
    }

    /// Reserves the space of the file that replaces this one, before its refresh token is sent.
    ///
    /// Otherwise a full or read-only disk is noticed when the token is spent: another process would
    /// then find it in the file and send it again, for which a server revokes the login. Returns
    /// nil for credentials without a refresh token, which no update can spend.
    func reserve(for present: OAuthCredentials?) throws -> ReservedFile? {
        guard present?.refreshToken != nil else { return nil }
        var status = stat()
        let size = stat(url.path, &status) == 0 ? Int(clamping: status.st_size) : 0
        return try newFile(size: min(max(0, size), SmallFile.maxSize) + Self.margin)
    }

    /// Writes a new file in the place of the present one, which stays when this fails.
    ///
    /// `reserved` is the file to write, which has its space already; nil for another one.
    func replace(with credentials: OAuthCredentials, in reserved: ReservedFile? = nil) throws {
        var status = stat()
        guard stat(url.path, &status) != 0 || status.st_uid == geteuid() else {
            throw Self.foreign
        }
        let file = try reserved ?? newFile(size: 0)
        guard let content = try? JSONEncoder().encode(credentials) else {
            file.discard()
            throw Self.unwritable
        }
        guard file.fill(with: content, renamingTo: url) else { throw Self.unwritable }
    }

    private func newFile(size: Int) throws -> ReservedFile {
        deleteUnfinished(olderThan: Self.staleness)
        let name = UUID().uuidString + Self.unfinished
        guard let file = ReservedFile(url.appendingPathExtension(name).path, size: size) else {
            throw Self.unwritable
        }
        return file
    }

    /// Deletes one's own file so that its tokens cannot come back.
    ///
    /// It is overwritten first, against further hard links and a directory that cannot be changed.
    /// The directory is then flushed, against a loss of power.
    func delete() throws {
        var status = stat()
        guard lstat(url.path, &status) == 0 else {
            guard errno == ENOENT else { throw Self.failure("cannot be deleted") }
            return
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Self.notAFile }
        guard status.st_uid == geteuid() else { throw Self.foreign }
        // Overwriting needs a permission that the mode may lack.
        if status.st_mode & S_IWUSR == 0 { _ = chmod(url.path, 0o600) }
        let isOverwritten = overwrite()
        if unlink(url.path) != 0, errno != ENOENT {
            guard isOverwritten else { throw Self.failure("cannot be deleted") }
        }
        synchronizeDirectory(of: url)
    }

    /// Deletes the files of processes that died while writing, whatever their age.
    func deleteUnfinished() {
        deleteUnfinished(olderThan: -.infinity)
    }

    private func deleteUnfinished(olderThan age: TimeInterval) {
        let directory = url.deletingLastPathComponent()
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        let prefix = url.lastPathComponent + "."
        for name in names ?? [] where name.hasPrefix(prefix) && name.hasSuffix(Self.unfinished) {
            // Other files, such as those of a store whose name begins like this one's, are kept.
            let middle = name.dropFirst(prefix.count).dropLast(Self.unfinished.count)
            guard UUID(uuidString: String(middle)) != nil else { continue }
            let file = directory.appendingPathComponent(name)
            let values = try? file.resourceValues(forKeys: [.contentModificationDateKey])
            let written = values?.contentModificationDate ?? .distantPast
            if -written.timeIntervalSinceNow > age { unlink(file.path) }
        }
    }

    /// Overwrites the content of one's own file with "no credentials".
    private func overwrite() -> Bool {
        let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let descriptor = open(url.path, flags)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid()
        else { return false }
        // The file is valid JSON at every instant, for a concurrent reader and after a crash:
        // "null" and white space first replace the tokens.
        let nothing = Array("null".utf8)
        let length = max(nothing.count, min(Int(status.st_size), SmallFile.maxSize))
        let blank = nothing + repeatElement(UInt8(ascii: " "), count: length - nothing.count)
        return pwrite(descriptor, blank, length, 0) == length && fsync(descriptor) == 0
            && ftruncate(descriptor, off_t(nothing.count)) == 0 && fsync(descriptor) == 0
    }

    private static let unwritable = AuthorisationError.store(reason: "cannot be written")
    private static let foreign = AuthorisationError.store(reason: "another user owns the file")
    private static let notAFile = AuthorisationError.store(reason: "not a file")
    private static let broken = AuthorisationError.store(reason: "the file is broken")
    private static let tooLarge = AuthorisationError.store(reason: "the file is too large")
    /// The failures of reading after which a log-out deletes the file.
    ///
    /// Others, such as an error of the disk, may be temporary: the file may be another client's.
    private static let deletable = [broken, tooLarge, failure("cannot be read", EACCES)]

    /// The error of a system call, by default of the last one, without the path.
    private static func failure(_ what: String, _ code: Int32 = errno) -> AuthorisationError {
        .store(reason: "\(what): \(String(cString: strerror(code)))")
    }
}
