// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Keeps OAuth credentials in a file that its owner alone can read, shared by any number of processes.
///
/// The file has mode 0600. A new one is written beside it, brought to the disk and put in its place,
/// so that there is always a whole one. A file `NAME.lock` beside it is locked while credentials are
/// read, renewed and written; it stays. File systems without `flock` will not do.
public final class FileCredentialStore: OAuthCredentialStore {
    private let file: URL
    private let agenda: Agenda

    /// How long to wait for other processes: longer than a refresh may take.
    private static let patience = Duration.seconds(60)
    /// How often to try: the system has no way to wait for a lock that can be cancelled.
    private static let pause = Duration.milliseconds(20)
    /// The most bytes of a file that are read.
    private static let most = 1_048_576

    /// Makes a store.
    ///
    /// - Parameter file: Where the credentials are; its directory must exist.
    public convenience init(file: URL) {
        self.init(file: file, timekeeper: SystemTimekeeper())
    }

    init(file: URL, timekeeper: any Timekeeper) {
        self.file = file
        agenda = Agenda(timekeeper: timekeeper)
    }

    /// Reads the file.
    ///
    /// - Throws: `AuthorisationError.store` when it cannot be read, is broken, or others can read it.
    public func load() async throws -> OAuthCredentials? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.failure("cannot be read") }
            return nil
        }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("cannot be read") }
        guard status.st_mode & 0o077 == 0 else {
            throw AuthorisationError.store(reason: "others can read the file")
        }
        guard status.st_size <= Self.most else {
            throw AuthorisationError.store(reason: "the file is too large")
        }
        let bytes = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd()
        guard
            let credentials = try? JSONDecoder().decode(
                OAuthCredentials.self, from: bytes ?? Data())
        else { throw AuthorisationError.store(reason: "the file is broken") }
        return credentials
    }

    /// Writes a new file, or deletes the one that is there.
    ///
    /// - Throws: `AuthorisationError.store`; the file of before is still there then.
    public func save(_ credentials: OAuthCredentials?) async throws {
        guard let credentials else {
            guard unlink(file.path) == 0 || errno == ENOENT else {
                throw Self.failure("cannot be deleted")
            }
            return
        }
        var sink = FileSink(file, synchronizes: true, mode: 0o600)
        do {
            try sink.begin()
            try sink.write(try JSONEncoder().encode(credentials))
            try sink.commit()
        } catch {
            sink.discard()
            throw AuthorisationError.store(reason: "cannot be written")
        }
    }

    /// Runs `body` while no other process, and no other store of this one, has the lock.
    ///
    /// - Throws: `AuthorisationError.store` when that takes longer than 60 seconds.
    public func withLock<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let path = file.path + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot be locked") }
        // Closing unlocks.
        defer { _ = close(descriptor) }
        let end = agenda.now + Self.patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw Self.failure("cannot be locked")
            }
            guard agenda.now < end else {
                throw AuthorisationError.store(reason: "another process has the lock")
            }
            try await agenda.sleep(for: Self.pause)
        }
        return try await body()
    }

    /// What the last call of the system failed for, without the path.
    private static func failure(_ what: String) -> AuthorisationError {
        .store(reason: "\(what): \(String(cString: strerror(errno)))")
    }
}
