// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    @testable import DataLoadingAuth
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// A log-out whose credential file cannot be used.
    @Suite(.timeLimit(.minutes(15))) struct FileStoreLogOutTests {
        /// What is wrong with the file.
        enum Damage: CaseIterable, Sendable {
            case broken, empty, tooLarge, readableByOthers
        }

        private static let isRoot = geteuid() == 0
        private static let foreign = AuthorisationError.store(
            reason: "another user owns the file")

        private let directory = TemporaryDirectory()
        private var file: URL { directory.url("credentials.json") }
        private let clock = ManualClock()
        private var bed: OAuthBed {
            OAuthBed(store: FileCredentialStore(file: file, timekeeper: clock.timekeeper))
        }

        private func write(_ damage: Damage, client: String = "client") async throws {
            let credentials = OAuthCredentials(
                accessToken: "canary-a", refreshToken: "canary-r", received: Date(),
                client: client)
            try await FileCredentialStore(file: file).save(credentials)
            let tokens = try Data(contentsOf: file)
            switch damage {
            case .broken: try tokens.dropLast().write(to: file)
            case .empty: try Data().write(to: file)
            case .tooLarge:
                try (tokens + Data(repeating: 0x20, count: SmallFile.maxSize)).write(to: file)
            case .readableByOthers: break
            }
            #expect(chmod(file.path, damage == .readableByOthers ? 0o644 : 0o600) == 0)
        }

        /// Whether no name leads to a token any more.
        private func holdsNoToken(_ link: URL) throws -> Bool {
            let bytes = try Data(contentsOf: link)
            return !String(decoding: bytes, as: UTF8.self).contains("canary")
        }

        @Test(arguments: Damage.allCases)
        func `a log-out overwrites and deletes a file that cannot be used, and a login follows`(
            damage: Damage
        ) async throws {
            try await write(damage)
            let link = directory.url("link.json")
            try FileManager.default.linkItem(at: file, to: link)
            let test = bed
            await test.factory.reset()
            #expect(directory.names == ["credentials.json.lock", "link.json"])
            #expect(try holdsNoToken(link))
            #expect(test.person.complaints.elements.isEmpty)
            let revoked = test.provider.state.withLock { $0.revoked }
            #expect(revoked == (damage == .readableByOthers ? ["canary-r", "canary-a"] : []))
            await test.logIn()
            #expect(try await test.store.load()?.accessToken == "access-2")
        }

        @Test(arguments: Damage.allCases)
        func `a log-out that could not lock a file which cannot be used deletes it later`(
            damage: Damage
        ) async throws {
            try await write(damage)
            let test = bed
            let lock = try FileLock(file.resolvingSymlinksInPath().path + ".lock")
            #expect(try lock.take() == .taken)
            try await clock.advance(by: .seconds(60)) { await test.factory.reset() }
            #expect(test.person.complaints.elements.count == 1)
            lock.unlock()
            await eventually {
                test.clock.advance(by: .seconds(1))
                return directory.names == ["credentials.json.lock"]
            }
        }

        @Test func `a log-out leaves another client's file as it is, though others can read it`()
            async throws
        {
            try await write(.readableByOthers, client: "another")
            let before = try Data(contentsOf: file)
            let test = bed
            await test.factory.reset()
            #expect(try Data(contentsOf: file) == before)
            #expect(test.provider.state.withLock { $0.revoked } == [])
        }

        @Test(.enabled(if: isRoot, "only root can give a file away"), arguments: Damage.allCases)
        func `a log-out reports another owner's file and leaves it`(damage: Damage) async throws {
            try await write(damage)
            let before = try Data(contentsOf: file)
            #expect(chown(file.path, 65_534, 65_534) == 0)
            let test = bed
            await test.factory.reset()
            #expect(test.person.complaints.elements as? [AuthorisationError] == [Self.foreign])
            #expect(try Data(contentsOf: file) == before)
        }

        @Test func `a log-out reports a pipe in the place of the file and leaves it`() async throws
        {
            #expect(mkfifo(file.path, 0o600) == 0)
            let test = bed
            await test.factory.reset()
            let expected = AuthorisationError.store(reason: "not a file")
            #expect(test.person.complaints.elements as? [AuthorisationError] == [expected])
            #expect(directory.names == ["credentials.json", "credentials.json.lock"])
        }

        @Test func `an update that is not for a log-out deletes no file that cannot be read`()
            async throws
        {
            try await write(.broken)
            await #expect(throws: AuthorisationError.store(reason: "the file is broken")) {
                try await FileCredentialStore(file: file).save(nil)
            }
            #expect(try String(contentsOf: file, encoding: .utf8).contains("canary"))
        }

        private static func deleteUnreadable(_ path: String) async throws {
            let file = URL(fileURLWithPath: path)
            let paths = [file.deletingLastPathComponent().path, path, path + ".lock"]
            guard chmod(path, 0) == 0, becomeUnprivileged(owning: paths) else { exit(1) }
            let store = FileCredentialStore(file: file)
            guard (try? await store.load()) == nil else { exit(2) }
            try await store.updateForLogOut { present in
                guard present == nil else { exit(3) }
                return nil
            }
            guard access(path, F_OK) != 0 else { exit(4) }
            endUnprivileged()
        }

        @Test func `a log-out overwrites and deletes a file whose mode forbids everything`()
            async throws
        {
            try await write(.broken)
            let link = directory.url("link.json")
            try FileManager.default.linkItem(at: file, to: link)
            await #expect(processExitsWith: .success) { [path = file.path as String] in
                try await Self.deleteUnreadable(path)
            }
            #expect(try holdsNoToken(link))
        }
    }

    /// Becomes a user to whom modes apply, and who owns the files at the paths.
    func becomeUnprivileged(owning paths: [String]) -> Bool {
        guard geteuid() == 0 else { return true }
        for path in paths where chown(path, 65_534, 65_534) != 0 { return false }
        return setegid(65_534) == 0 && seteuid(65_534) == 0
    }

    /// Ends a process that became another user, with success.
    ///
    /// Unlike `exit`, it calls no leak sanitizer, which cannot look at such a process.
    func endUnprivileged() -> Never {
        _exit(0)
    }
#endif
