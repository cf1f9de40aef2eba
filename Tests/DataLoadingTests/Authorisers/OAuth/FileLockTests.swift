// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    /// Who else may have the files of a store open, or own them.
    @Suite struct FileLockTests {
        private let directory = TemporaryDirectory()
        private let credentials = OAuthCredentials(
            accessToken: "canary", refreshToken: "canary-2", received: Date())
        private static let isRoot = geteuid() == 0

        /// A second descriptor of an open file, as a forked process has one.
        private static func copyOfDescriptor(of path: String) -> Int32? {
            let own = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: own)) ?? []
            let name = names.first {
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(own)/\($0)")
                return target == path
            }
            return name.flatMap { Int32($0) }.map { dup($0) }
        }

        private func takeAndCopy(_ path: String) throws -> Int32? {
            let lock = try FileLock(path)
            #expect(try lock.take() == .taken)
            let copy = Self.copyOfDescriptor(of: path)
            withExtendedLifetime(lock) {}
            return copy
        }

        @Test func `a process that was forked meanwhile does not keep a lock`() throws {
            let file = try directory.write(Data(), to: "a.lock")
            let path = file.resolvingSymlinksInPath().path
            let copy = try #require(try takeAndCopy(path))
            defer { _ = close(copy) }
            let next = try FileLock(path)
            #expect(try next.take() == .taken)
        }

        @Test(.enabled(if: isRoot, "only root can give a file away"))
        func `credentials that another user owns are not read`() async throws {
            let file = directory.url("credentials.json")
            let store = FileCredentialStore(file: file)
            try await store.save(credentials)
            #expect(chown(file.path, 65_534, 65_534) == 0)
            await #expect(
                throws: AuthorisationError.store(reason: "another user owns the file")
            ) {
                try await store.load()
            }
        }

        @Test(.enabled(if: isRoot, "only root can give a file away"))
        func `a lock that another user owns is not taken`() async throws {
            let file = directory.url("credentials.json")
            try directory.write(Data(), to: "credentials.json.lock")
            #expect(chown(file.path + ".lock", 65_534, 65_534) == 0)
            await #expect(throws: AuthorisationError.self) {
                try await FileCredentialStore(file: file).withLock {}
            }
        }

        @Test func `a lock that is a link, or has a second name, is not taken`() async throws {
            let file = directory.url("credentials.json")
            let other = try directory.write(Data(), to: "other")
            let lock = URL(fileURLWithPath: file.path + ".lock")
            try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: other)
            await #expect(throws: AuthorisationError.self) {
                try await FileCredentialStore(file: file).withLock {}
            }
            try FileManager.default.removeItem(at: lock)
            try FileManager.default.linkItem(at: other, to: lock)
            await #expect(throws: AuthorisationError.self) {
                try await FileCredentialStore(file: file).withLock {}
            }
        }

        @Test(.timeLimit(.minutes(15)))
        func `a disk that stalls holds no thread that all tasks share`() async throws {
            let disk = DispatchQueue(label: "disk")
            let store = FileCredentialStore(
                file: directory.url("credentials.json"), timekeeper: ManualClock().timekeeper,
                executor: { disk.async(execute: $0) })
            disk.suspend()
            let credentials = credentials
            let calls = (0..<64).map { index in
                Task {
                    guard index == 0 else { return _ = try await store.load() }
                    try await store.save(credentials)
                }
            }
            // More of them than there are threads, and others run all the same.
            for _ in 0..<64 { await Task {}.value }
            disk.resume()
            for call in calls { try await call.value }
            #expect(try await store.load()?.accessToken == "canary")
        }

        @Test func `a lock is opened and taken where a disk that stalls is waited for`()
            async throws
        {
            let disk = DispatchQueue(label: "disk")
            let store = FileCredentialStore(
                file: directory.url("credentials.json"), timekeeper: ManualClock().timekeeper,
                executor: { disk.async(execute: $0) })
            disk.suspend()
            let locked = Task { try await store.withLock {} }
            for _ in 0..<1_000 { await Task.yield() }
            #expect(directory.names == [])
            disk.resume()
            try await locked.value
            #expect(directory.names == ["credentials.json.lock"])
        }

        // Power may be lost before the directory is written, and another name may lead to it.
        @Test func `deleted credentials are overwritten`() async throws {
            let file = directory.url("credentials.json")
            let store = FileCredentialStore(file: file)
            try await store.save(credentials)
            let other = directory.url("other.json")
            try FileManager.default.linkItem(at: file, to: other)
            try await store.save(nil)
            #expect(directory.names == ["credentials.json.lock", "other.json"])
            #expect(
                !String(decoding: try Data(contentsOf: other), as: UTF8.self).contains("canary"))
            // What is left of a deletion that was cut short is no credential, and no fault.
            #expect(try await FileCredentialStore(file: other).load() == nil)
        }
    }
#endif
