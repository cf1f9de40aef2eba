// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Dispatch
public import Foundation

/// Stores OAuth credentials in a private file that any number of processes can share.
///
/// The file has mode 0600: only its owner can read it. A new one is written beside it, flushed to
/// the disk and renamed, so that there is always a complete one. A file `NAME.….new` that a killed
/// process has left is deleted. A file `NAME.lock` is locked while credentials are read, renewed
/// and written; it stays. Symbolic links are followed. A file of another owner is neither read nor
/// replaced, and a lock of another owner is not taken. Nothing protects a file in a directory that
/// other users may write to: use a directory of its own, mode 0700. File systems without `flock`
/// are not supported.
///
/// On a full or read-only disk the file can be locked and read. A refresh token that is in the file
/// is not sent then: the space of the new file is reserved before, and `update` throws without it.
/// Otherwise another process would send the token again, for which a server may revoke the login.
/// An authoriser uses the access token until it expires, and tokens of a login from memory. Where
/// the lock's file does not exist yet, the directory is locked in its place, but only with mode
/// 0700: otherwise `update` throws, and an authoriser can neither refresh nor get a token for the
/// program itself until the lock's file can be created.
///
/// A deletion overwrites the file before it removes it, so that it succeeds where only one of the
/// two is possible. It fails on a read-only file system, on an error of the disk, and while another
/// process has the lock. The authoriser then retries it. When the program drops the authoriser, the
/// retries end an hour after the failure. A process that starts before a try succeeds finds the old
/// tokens, which the server refuses once the log-out has revoked them; where it could not be
/// reached or has no revocation endpoint, delete the file.
public final class FileCredentialStore: OAuthCredentialStore {
    private let given: URL
    private let timerQueue: TimerQueue
    /// The time limit for taking the lock: longer than a refresh may take.
    private let lockTimeout: Duration
    /// Runs blocking calls: a stalled disk must not block a thread that all tasks share.
    private let executor: BlockingExecutor

    /// Runs a closure on a thread that may block.
    typealias BlockingExecutor = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Reads what a file has, and reserves the space of what replaces it.
    private typealias Reading =
        @Sendable (CredentialFile) throws -> (OAuthCredentials?, ReservedFile?)

    /// The pause between attempts: the system has no cancellable wait for a lock.
    private static let lockPollInterval = Duration.milliseconds(20)

    /// Makes a store.
    ///
    /// - Parameter file: The file of the credentials; its directory must exist.
    public convenience init(file: URL) {
        self.init(file: file, timekeeper: SystemTimekeeper())
    }

    init(
        file: URL, timekeeper: any Timekeeper, lockTimeout: Duration = .seconds(60),
        executor: BlockingExecutor? = nil
    ) {
        given = file
        let queue = DispatchQueue(label: "DataLoading.credentials")
        self.executor = executor ?? { queue.async(execute: $0) }
        self.lockTimeout = lockTimeout
        timerQueue = TimerQueue(timekeeper: timekeeper)
    }

    /// Reads the file.
    ///
    /// - Throws: `AuthorisationError.store` when it cannot be read, is broken, or others can read
    ///   it.
    public func load() async throws -> OAuthCredentials? {
        try await blocking { try $0.read() }
    }

    /// Reads the file and replaces it by what `body` returns, while no other process does so.
    ///
    /// A deletion overwrites the file first.
    ///
    /// - Throws: The error of `body`, or `AuthorisationError.store` when the file cannot be read or
    ///   written, or another process keeps the lock for 60 seconds. After a failed write the old
    ///   file is still there. When the file has a refresh token and the disk has no room for its
    ///   successor, `body` is not called.
    public func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        let read: Reading = { file in
            let present = try file.read()
            return (present, try file.reserve(for: present))
        }
        try await update(reading: read, body)
    }

    /// Does the same for a log-out, also with a file that cannot be read or that others can read.
    ///
    /// A file that is broken or too large, or whose mode forbids reading, is deleted before `body`
    /// is called with nil.
    ///
    /// - Throws: As `update` does: when another user owns the file, it is not a regular file, the
    ///   disk fails, or the file can be neither overwritten nor deleted.
    public func updateForLogOut(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        // A log-out needs no space, and must succeed where there is none.
        try await update(reading: { (try $0.readOrDelete(), nil) }, body)
    }

    private func update(
        reading read: @escaping Reading,
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        let lock = try await takenLock()
        do {
            let (present, reserved) = try await blocking(read)
            do {
                let credentials = try await body(present)
                try await blocking { file in
                    defer { reserved?.discard() }
                    guard let credentials else {
                        file.deleteUnfinished()
                        if present != nil { try file.delete() }
                        return
                    }
                    guard credentials != present else { return }
                    try file.replace(with: credentials, in: reserved)
                }
            } catch {
                if let reserved { try await blocking { _ in reserved.discard() } }
                throw error
            }
            await unlock(lock)
        } catch {
            await unlock(lock)
            throw error
        }
    }

    private func blocking<Result: Sendable>(
        _ body: @escaping @Sendable (CredentialFile) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            executor { [given] in
                continuation.resume(with: .init { try body(CredentialFile(given)) })
            }
        }
    }

    private func takenLock() async throws -> FileLock {
        let end = timerQueue.now + lockTimeout
        var lock = try await freshLock()
        while true {
            switch try await blocking({ [lock] _ in try lock.take() }) {
            case .taken: return lock
            case .gone: lock = try await freshLock()
            case .held: try await timerQueue.sleep(for: Self.lockPollInterval)
            }
            guard timerQueue.now < end else {
                throw AuthorisationError.store(reason: "another process has the lock")
            }
        }
    }

    private func freshLock() async throws -> FileLock {
        try await blocking { try FileLock($0.url.path + ".lock") }
    }

    private func unlock(_ lock: FileLock) async {
        await withCheckedContinuation { continuation in
            executor {
                lock.unlock()
                continuation.resume()
            }
        }
    }
}
