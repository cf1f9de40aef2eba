// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import Foundation

/// Keeps OAuth credentials in a file that its owner alone can read, shared by any number of processes.
///
/// The file has mode 0600. A new one is written beside it, brought to the disk and put in its place, so
/// that there is always a whole one; a file `NAME.….new` that a killed process has left is cleared away.
/// A file `NAME.lock` is locked while credentials are read, renewed and written; it stays. A link is
/// followed. A file of another owner is neither read nor replaced, nor is such a lock taken. Nothing
/// protects what is in a directory that other users may write to: give it one of its own, mode 0700.
/// File systems without `flock` will not do.
public final class FileCredentialStore: OAuthCredentialStore {
    private let given: URL
    private let agenda: Agenda
    /// How long to wait for other processes: longer than a refresh may take.
    private let patience: Duration
    /// Where the disk is waited for: one that stalls must not hold a thread that all tasks share.
    private let elsewhere: Elsewhere

    /// Runs something on a thread that may be blocked.
    typealias Elsewhere = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// How often to try: the system has no way to wait for a lock that can be cancelled.
    private static let pause = Duration.milliseconds(20)
    /// How a file is called that is being written.
    private static let unfinished = ".new"
    /// After how many seconds whoever wrote such a file is not there any more.
    private static let staleness = 60.0
    /// The most bytes of a file that are read.
    private static let most = 1_048_576
    /// The most links that are followed one after the other, as Linux has it.
    private static let mostLinks = 40

    /// Makes a store.
    ///
    /// - Parameter file: Where the credentials are; its directory must exist.
    public convenience init(file: URL) {
        self.init(file: file, timekeeper: SystemTimekeeper())
    }

    init(
        file: URL, timekeeper: any Timekeeper, patience: Duration = .seconds(60),
        elsewhere: Elsewhere? = nil
    ) {
        given = file
        let queue = DispatchQueue(label: "DataLoading.credentials")
        self.elsewhere = elsewhere ?? { queue.async(execute: $0) }
        self.patience = patience
        agenda = Agenda(timekeeper: timekeeper)
    }

    /// Programs that come by different links have one file and one lock.
    private var file: URL {
        var file = given
        // Foundation follows no link that leads to nothing yet.
        for _ in 0..<Self.mostLinks {
            let directory = file.deletingLastPathComponent().resolvingSymlinksInPath()
            file = directory.appendingPathComponent(file.lastPathComponent)
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)
            guard let target else { break }
            file = URL(fileURLWithPath: target, relativeTo: directory).absoluteURL
        }
        return file
    }

    /// Reads the file.
    ///
    /// - Throws: `AuthorisationError.store` when it cannot be read, is broken, or others can read it.
    public func load() async throws -> OAuthCredentials? {
        try await blocking { try self.read() }
    }

    private func read() throws -> OAuthCredentials? {
        // A pipe would be waited for.
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.failure("cannot be read") }
            return nil
        }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw AuthorisationError.store(reason: "not a file")
        }
        // Root could read a stranger's, and would then use the stranger's account.
        guard status.st_uid == geteuid() else { throw Self.foreign }
        guard status.st_mode & 0o077 == 0 else {
            throw AuthorisationError.store(reason: "others can read the file")
        }
        guard status.st_size <= Self.most else {
            throw AuthorisationError.store(reason: "the file is too large")
        }
        let bytes = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd()
        do {
            // "null" is what a deletion writes first.
            return try JSONDecoder().decode(OAuthCredentials?.self, from: bytes ?? Data())
        } catch {
            throw AuthorisationError.store(reason: "the file is broken")
        }
    }

    /// Writes a new file, or overwrites and deletes the one that is there, with whatever was left of
    /// others.
    ///
    /// - Throws: `AuthorisationError.store`; the file of before is still there then.
    public func save(_ credentials: OAuthCredentials?) async throws {
        try await blocking { try self.write(credentials) }
    }

    private func blocking<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            elsewhere { continuation.resume(with: .init(catching: body)) }
        }
    }

    private func write(_ credentials: OAuthCredentials?) throws {
        guard let credentials else {
            clearAway(olderThan: -.infinity)
            return try delete(file)
        }
        clearAway(olderThan: Self.staleness)
        var status = stat()
        guard stat(file.path, &status) != 0 || status.st_uid == geteuid() else {
            throw Self.foreign
        }
        let unfinished = file.appendingPathExtension(UUID().uuidString + Self.unfinished)
        var sink = FileSink(file, synchronizes: true, mode: 0o600, writtenAs: unfinished)
        do {
            try sink.begin()
            try sink.write(try JSONEncoder().encode(credentials))
            try sink.commit()
        } catch {
            sink.discard()
            throw AuthorisationError.store(reason: "cannot be written")
        }
    }

    /// Deletes the file so that nothing brings its tokens back: not another name that it has, not a
    /// loss of power before its directory is written, not a directory that cannot be changed.
    private func delete(_ file: URL) throws {
        let isOverwritten = overwrite(file)
        if unlink(file.path) != 0, errno != ENOENT {
            guard isOverwritten else { throw Self.failure("cannot be deleted") }
        }
        let directory = open(file.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        _ = close(directory)
    }

    /// Puts "no credentials" in the place of what is in a file of one's own.
    private func overwrite(_ file: URL) -> Bool {
        let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
        let descriptor = open(file.path, flags)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid()
        else { return false }
        // Whole at every instant, whoever reads it meanwhile or finds it after a crash: first what JSON
        // has between its values takes the place of the tokens.
        let nothing = Array("null".utf8)
        let length = max(nothing.count, min(Int(status.st_size), Self.most))
        let blank = nothing + repeatElement(UInt8(ascii: " "), count: length - nothing.count)
        return pwrite(descriptor, blank, length, 0) == length && fsync(descriptor) == 0
            && ftruncate(descriptor, off_t(nothing.count)) == 0 && fsync(descriptor) == 0
    }

    /// Runs `body` while no other process, and no other store of this one, has the lock.
    ///
    /// - Throws: `AuthorisationError.store` when that takes longer than 60 seconds.
    public func withLock<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let lock = try await takenLock()
        do {
            let result = try await body()
            await unlock(lock)
            return result
        } catch {
            await unlock(lock)
            throw error
        }
    }

    private func takenLock() async throws -> FileLock {
        let end = agenda.now + patience
        var lock = try await freshLock()
        while true {
            switch try await blocking({ [lock] in try lock.take() }) {
            case .taken: return lock
            case .gone: lock = try await freshLock()
            case .held: try await agenda.sleep(for: Self.pause)
            }
            guard agenda.now < end else {
                throw AuthorisationError.store(reason: "another process has the lock")
            }
        }
    }

    private func freshLock() async throws -> FileLock {
        try await blocking { try FileLock(self.file.path + ".lock") }
    }

    private func unlock(_ lock: FileLock) async {
        await withCheckedContinuation { continuation in
            elsewhere {
                lock.unlock()
                continuation.resume()
            }
        }
    }

    /// Deletes what processes have left that died while they wrote.
    private func clearAway(olderThan age: TimeInterval) {
        let directory = file.deletingLastPathComponent()
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        let prefix = file.lastPathComponent + "."
        for name in names ?? [] where name.hasPrefix(prefix) && name.hasSuffix(Self.unfinished) {
            // Others, such as another store's whose name begins like this one's, are not its own.
            let middle = name.dropFirst(prefix.count).dropLast(Self.unfinished.count)
            guard UUID(uuidString: String(middle)) != nil else { continue }
            let url = directory.appendingPathComponent(name)
            let values = try? url.resourceValues(forKeys: [.contentModificationDateKey])
            let written = values?.contentModificationDate ?? .distantPast
            if -written.timeIntervalSinceNow > age { unlink(url.path) }
        }
    }

    private static let foreign = AuthorisationError.store(reason: "the file is somebody else's")

    /// What the last call of the system failed for, without the path.
    private static func failure(_ what: String) -> AuthorisationError {
        .store(reason: "\(what): \(String(cString: strerror(errno)))")
    }
}
