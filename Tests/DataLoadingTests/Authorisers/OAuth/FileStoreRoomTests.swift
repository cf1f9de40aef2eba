// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import Foundation
    import Testing

    /// The space of new credentials, without which a refresh token must not be sent.
    ///
    /// Another process would find it in the file and send it again.
    @Suite struct FileStoreRoomTests {
        private let directory = TemporaryDirectory()
        private var file: URL { directory.url("credentials.json") }
        private let credentials = OAuthCredentials(
            accessToken: "access", refreshToken: "refresh",
            received: Date(timeIntervalSince1970: 1_767_225_600))

        private static func names(beside file: URL) -> [String] {
            let directory = file.deletingLastPathComponent().path
            let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
            return names?.sorted() ?? []
        }

        /// What is written while an update runs.
        private static func unfinished(beside file: URL) -> [String] {
            names(beside: file).filter { $0.hasSuffix(".new") }
        }

        private static func updateInVain(_ store: FileCredentialStore) async throws {
            do {
                try await store.update { _ in exit(2) }
                exit(3)
            } catch AuthorisationError.store(reason: "cannot be written") {}
            guard try await store.load()?.refreshToken == "refresh" else { exit(4) }
        }

        private static func updateWhereNothingCanBeCreated(_ path: String) async throws {
            let file = URL(fileURLWithPath: path)
            let directory = file.deletingLastPathComponent().path
            guard chmod(directory, 0o500) == 0,
                becomeUnprivileged(owning: [directory, path, path + ".lock"])
            else { exit(1) }
            try await updateInVain(FileCredentialStore(file: file))
            endUnprivileged()
        }

        @Test func `no refresh token is sent where its successor's file cannot be created`()
            async throws
        {
            try await FileCredentialStore(file: file).save(credentials)
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                try await Self.updateWhereNothingCanBeCreated(path)
            }
            #expect(chmod(file.deletingLastPathComponent().path, 0o700) == 0)
        }

        private static func updateOnFullDisk(_ path: String) async throws {
            let file = URL(fileURLWithPath: path)
            let store = FileCredentialStore(file: file)
            // A write beyond the limit is then an error, as one on a full disk.
            guard limitFiles(toLength: 20) else { exit(1) }
            signal(SIGXFSZ, SIG_IGN)
            try await updateInVain(store)
            guard unfinished(beside: file).isEmpty else { exit(5) }
            // A log-out needs no space.
            try await store.updateForLogOut { present in
                guard present?.refreshToken == "refresh" else { exit(6) }
                return nil
            }
            guard try await store.load() == nil else { exit(7) }
        }

        @Test func `no refresh token is sent on a full disk, and a log-out succeeds there`()
            async throws
        {
            try await FileCredentialStore(file: file).save(credentials)
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                try await Self.updateOnFullDisk(path)
            }
        }

        @Test func `an update has its space in a private file before it refreshes`() async throws {
            let store = FileCredentialStore(file: file)
            try await store.save(credentials)
            var next = credentials
            next.refreshToken = String(repeating: "r", count: 8_192)
            let newer = next
            try await store.update { [file] _ in
                let unfinished = Self.unfinished(beside: file)
                #expect(unfinished.count == 1)
                let name = try #require(unfinished.first)
                var status = stat()
                let path = file.deletingLastPathComponent().appendingPathComponent(name).path
                #expect(stat(path, &status) == 0)
                #expect(status.st_size >= 16_384)
                #expect(status.st_mode & 0o777 == 0o600)
                return newer
            }
            #expect(try await store.load() == newer)
            #expect(Self.names(beside: file) == ["credentials.json", "credentials.json.lock"])
            // Nothing of the reserved space is left behind the credentials.
            let content = try Data(contentsOf: file)
            #expect(content.count < 16_384)
            #expect(content.last == UInt8(ascii: "}"))
        }

        @Test func `an update that changes nothing, throws or deletes leaves no file behind`()
            async throws
        {
            let store = FileCredentialStore(file: file)
            try await store.save(credentials)
            try await store.update { $0 }
            #expect(Self.unfinished(beside: file) == [])
            await #expect(throws: TestFailure.self) {
                try await store.update { _ in throw TestFailure() }
            }
            #expect(Self.unfinished(beside: file) == [])
            #expect(try await store.load() == credentials)
            try await store.save(nil)
            #expect(Self.names(beside: file) == ["credentials.json.lock"])
        }

        @Test func `what a process has reserved that died is deleted by the next deletion`()
            async throws
        {
            let store = FileCredentialStore(file: file)
            try await store.save(credentials)
            let left = file.appendingPathExtension(UUID().uuidString + ".new")
            let reserved = try #require(ReservedFile(left.path, size: 100))
            #expect(try Data(contentsOf: left) == Data(count: 100))
            // Neither is it taken for credentials, nor is a file of the same name overwritten.
            #expect(try await store.load() == credentials)
            #expect(ReservedFile(left.path, size: 1) == nil)
            try await store.save(nil)
            #expect(Self.names(beside: file) == ["credentials.json.lock"])
            reserved.discard()
        }
    }
#endif
