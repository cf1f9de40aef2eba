// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// A store in a directory that can be read only.
    @Suite struct FileStoreAccessTests {
        /// Updates a store that cannot be written; it is locked and read all the same.
        private static func updateInVain(
            _ store: FileCredentialStore, beside other: FileLock
        ) async throws {
            do {
                try await store.update { present in
                    guard try other.take() == .held else { exit(2) }
                    guard present?.accessToken == "old" else { exit(3) }
                    return OAuthCredentials(accessToken: "new", received: Date())
                }
                exit(4)
            } catch AuthorisationError.store(reason: "cannot be written") {}
        }

        private static func lockWhatCannotBeWritten(_ directory: String) async throws {
            let file = URL(fileURLWithPath: directory + "/credentials.json")
            let paths = [directory, file.path, file.path + ".lock"]
            guard chmod(file.path + ".lock", 0o400) == 0, chmod(directory, 0o500) == 0,
                becomeUnprivileged(owning: paths)
            else { exit(1) }
            let store = FileCredentialStore(file: file)
            let other = try FileLock(file.path + ".lock")
            try await updateInVain(store, beside: other)
            guard try await store.load()?.accessToken == "old" else { exit(4) }
            endUnprivileged()
        }

        // What `errors=remount-ro` makes of a disk.
        @Test func `a store that cannot be written can be locked and read`() async throws {
            let directory = TemporaryDirectory()
            let file = directory.url("credentials.json")
            try await FileCredentialStore(file: file)
                .save(OAuthCredentials(accessToken: "old", received: Date()))
            await #expect(processExitsWith: .success) {
                [path = file.deletingLastPathComponent().path as String] in
                try await Self.lockWhatCannotBeWritten(path)
            }
            #expect(chmod(file.deletingLastPathComponent().path, 0o700) == 0)
        }

        private static func lockWhereNoFileCanBeCreated(_ directory: String) async throws {
            let file = URL(fileURLWithPath: directory + "/credentials.json")
            let lock = file.path + ".lock"
            guard unlink(lock) == 0, chmod(directory, 0o500) == 0,
                becomeUnprivileged(owning: [directory, file.path])
            else { exit(1) }
            let other = try FileLock(lock)
            try await updateInVain(FileCredentialStore(file: file), beside: other)
            guard try other.take() == .taken else { exit(4) }
            // From now on there is space, and yet no store has another lock than `other`.
            guard chmod(directory, 0o700) == 0 else { exit(5) }
            let third = try FileLock(lock)
            guard try third.take() == .held, access(lock, F_OK) != 0 else { exit(6) }
            other.unlock()
            guard try third.take() == .gone, try FileLock(lock).take() == .taken else { exit(7) }
            guard try other.take() == .gone else { exit(8) }
            endUnprivileged()
        }

        // A full disk at the first start.
        @Test func `a directory is locked where the lock's file cannot be created`() async throws {
            let directory = TemporaryDirectory()
            let file = directory.url("credentials.json")
            try await FileCredentialStore(file: file)
                .save(OAuthCredentials(accessToken: "old", received: Date()))
            await #expect(processExitsWith: .success) {
                [path = file.deletingLastPathComponent().path as String] in
                try await Self.lockWhereNoFileCanBeCreated(path)
            }
        }

        private static func lockWhatOthersMayOpen(_ directory: String) async throws {
            let file = URL(fileURLWithPath: directory + "/credentials.json")
            guard chmod(directory, 0o555) == 0, becomeUnprivileged(owning: [directory]) else {
                exit(1)
            }
            let reason = "cannot be locked: Permission denied"
            do {
                try await FileCredentialStore(file: file).withLock {}
                exit(2)
            } catch AuthorisationError.store(reason: reason) {}
            endUnprivileged()
        }

        @Test func `a directory that others may open is not locked`() async throws {
            let directory = TemporaryDirectory()
            await #expect(processExitsWith: .success) { [path = directory.url.path as String] in
                try await Self.lockWhatOthersMayOpen(path)
            }
        }

        private static func deleteWhereNothingCanBeRemoved(_ directory: String) async throws {
            let file = URL(fileURLWithPath: directory + "/credentials.json")
            let paths = [directory, file.path, file.path + ".lock"]
            guard chmod(file.path, 0o400) == 0, chmod(directory, 0o500) == 0,
                becomeUnprivileged(owning: paths)
            else { exit(1) }
            try await FileCredentialStore(file: file).updateForLogOut { present in
                guard present?.accessToken == "old" else { exit(2) }
                return nil
            }
            guard access(file.path, F_OK) == 0 else { exit(3) }
            // What a process finds that is started now.
            guard try await FileCredentialStore(file: file).load() == nil else { exit(4) }
            endUnprivileged()
        }

        @Test func `a log-out overwrites a file that it can neither remove nor write by its mode`()
            async throws
        {
            let directory = TemporaryDirectory()
            let file = directory.url("credentials.json")
            try await FileCredentialStore(file: file)
                .save(OAuthCredentials(accessToken: "old", received: Date()))
            await #expect(processExitsWith: .success) {
                [path = file.deletingLastPathComponent().path as String] in
                try await Self.deleteWhereNothingCanBeRemoved(path)
            }
            #expect(chmod(file.deletingLastPathComponent().path, 0o700) == 0)
        }
    }
#endif
