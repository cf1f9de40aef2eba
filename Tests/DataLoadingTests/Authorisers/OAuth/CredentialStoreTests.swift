// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct CredentialStoreTests {
    private let directory = TemporaryDirectory()
    private var file: URL { directory.url("credentials.json") }
    private let credentials = OAuthCredentials(
        accessToken: "a", refreshToken: "r", scope: "s", lifetime: .seconds(60),
        received: Date(timeIntervalSince1970: 1_767_225_600.25))

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(
            atPath: directory.url(name).path)
        return attributes[.posixPermissions] as? Int
    }

    @Test
    func `a file store keeps credentials in a private file, replaces it whole and deletes it`()
        async throws
    {
        let store = FileCredentialStore(file: file)
        #expect(try await store.load() == nil)
        try await store.save(credentials)
        #expect(try await store.load() == credentials)
        #expect(try mode("credentials.json") == 0o600)
        var newer = credentials
        newer.accessToken = "b"
        try await store.save(newer)
        #expect(try await FileCredentialStore(file: file).load() == newer)
        #expect(directory.names == ["credentials.json", "credentials.json.lock"])
        try await store.save(nil)
        try await store.save(nil)
        #expect(directory.names == ["credentials.json.lock"])
    }

    @Test func `a file store reads no file that others can read, and no broken one`() async throws {
        let store = FileCredentialStore(file: file)
        try await store.save(credentials)
        for mode in [0o640, 0o604, 0o644] {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: file.path)
            await #expect(throws: AuthorisationError.store(reason: "others can read the file")) {
                try await store.load()
            }
        }
        for bytes in ["", "{}", "[]", "{\"access_token\":1}", "\u{0}"] {
            try directory.write(Data(bytes.utf8), to: "credentials.json")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: file.path)
            await #expect(throws: AuthorisationError.store(reason: "the file is broken")) {
                try await store.load()
            }
        }
    }

    @Test func `a file store says that its directory is missing`() async throws {
        let store = FileCredentialStore(file: directory.url("missing/credentials.json"))
        let reason = "cannot be locked: No such file or directory"
        await #expect(throws: AuthorisationError.store(reason: reason)) {
            try await store.save(credentials)
        }
    }

    @Test func `one store has the lock at a time`() async throws {
        // As long as a busy machine may take.
        let stores = (0..<4).map { _ in
            FileCredentialStore(
                file: file, timekeeper: SystemTimekeeper(), lockTimeout: .seconds(3_600))
        }
        let inside = Locked(0)
        let most = Locked(0)
        let count = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    for _ in 0..<5 {
                        try await store.withLock {
                            let now = inside.withLock {
                                $0 += 1; return $0
                            }
                            most.withLock { $0 = max($0, now) }
                            await Task.yield()
                            count.withLock { $0 += 1 }
                            inside.withLock { $0 -= 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.withLock { $0 } == 1)
        #expect(count.withLock { $0 } == 20)
        #expect(directory.names == ["credentials.json.lock"])
    }

    @Test func `a file store gives up after a minute when another process keeps the lock`()
        async throws
    {
        let clock = ManualClock()
        let store = FileCredentialStore(file: file, timekeeper: clock.timekeeper)
        try await FileCredentialStore(file: file).withLock {
            await #expect(throws: AuthorisationError.store(reason: "another process has the lock"))
            {
                try await clock.advance(by: .seconds(60)) { try await store.withLock {} }
            }
        }
    }

    // 1.11: rotated refresh token not saved.
    @Test func `an authoriser uses credentials that could not be stored, and reports the failure`()
        async throws
    {
        let store = FailingStore()
        let test = OAuthBed(store: store)
        test.perform()
        await test.consent()
        #expect(await test.ends(1)[0]?.error == nil)
        #expect(test.person.complaints.elements.count == 1)
        store.fails.withLock { $0 = false }
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        #expect(await store.load()?.refreshToken == "refresh-3")
        test.expectNoViolation()
    }

    @Test func `credentials that could not be stored are written later, without a refresh`()
        async
    {
        let store = FailingStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        for _ in 0..<5 {
            for _ in 0..<100 { await Task.yield() }
            test.clock.advance(by: .seconds(1))
        }
        #expect(await store.load() == nil)
        store.fails.withLock { $0 = false }
        while await store.load() == nil {
            await Task.yield()
            test.clock.advance(by: .milliseconds(500))
        }
        #expect(await store.load()?.refreshToken == "refresh-2")
        #expect(test.person.complaints.elements.count == 1)
        #expect(test.provider.asked("refresh_token") == 0)
    }

    @Test func `credentials that could not be stored are not written after a log-out`() async {
        let store = FailingStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.fails.withLock { $0 = false }
        await test.factory.reset()
        for _ in 0..<10 {
            for _ in 0..<100 { await Task.yield() }
            test.clock.advance(by: .seconds(5))
        }
        #expect(await store.load() == nil)
    }

    // A crash between the server's answer and the write: the old token is all that is left.
    @Test func `an authoriser logs in once when the stored token is spent`() async throws {
        let spent = OAuthCredentials(
            accessToken: "old", refreshToken: "refresh-spent", lifetime: .zero,
            received: Date(timeIntervalSince1970: 0))
        let test = OAuthBed(store: MemoryCredentialStore(spent))
        #expect(
            await test.load()?.error?.underlyingError as? AuthorisationError
                == .refused(code: "invalid_grant"))
        test.clock.advance(by: .seconds(2))
        test.perform(5)
        await test.consent()
        #expect(await test.ends(6).dropFirst().allSatisfy { $0?.error == nil })
        #expect(test.provider.asked("refresh_token") == 1)
        #expect(test.person.asked.elements.count == 1)
    }

    // Another process has refreshed meanwhile.
    @Test func `an authoriser takes another process's credentials instead of refreshing`()
        async throws
    {
        let test = OAuthBed()
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        let other = try await test.refreshElsewhere()
        try await test.store.save(other)
        #expect(await test.load()?.error == nil)
        #expect(test.provider.asked("refresh_token") == 1)
        #expect(test.sent.last == "Bearer \(other.accessToken)")
        test.expectNoViolation()
    }

    @Test func `a file store deletes what a process left that died while it wrote`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("c.json")
        let end = ".\(UUID().uuidString).new"
        for name in ["c.json", "d.json"].map({ $0 + end }) {
            try Data("refresh-token".utf8).write(to: directory.url(name))
        }
        let store = FileCredentialStore(file: file)
        try await store.save(nil)
        #expect(Set(directory.names) == ["c.json.lock", "d.json" + end])
    }

    @Test func `a file store deletes nothing that it has not written itself`() async throws {
        let directory = TemporaryDirectory()
        let another = "c.work.\(UUID().uuidString).new"
        let own = "c.\(UUID().uuidString).new"
        for name in [another, own, "c.d.new", "c.new"] {
            try Data("refresh-token".utf8).write(to: directory.url(name))
        }
        let store = FileCredentialStore(file: directory.url("c"))
        try await store.save(nil)
        #expect(Set(directory.names) == ["c.lock", another, "c.d.new", "c.new"])
    }

    @Test func `a file store sees that its lock file was deleted`() throws {
        let directory = TemporaryDirectory()
        let path = try directory.write(Data(), to: "lock").path
        var first: FileLock? = try FileLock(path)
        let second = try FileLock(path)
        #expect(try first?.take() == .taken)
        #expect(try second.take() == .held)
        unlink(path)
        first = nil
        let third = try FileLock(path)
        #expect(try third.take() == .taken)
        #expect(try second.take() == .gone)
        unlink(path)
    }

    @Test func `a file store does not wait for a pipe`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("c.json")
        #expect(mkfifo(file.path, 0o600) == 0)
        await #expect(throws: AuthorisationError.store(reason: "not a file")) {
            try await FileCredentialStore(file: file).load()
        }
    }

    @Test(.enabled(if: getuid() == 0))
    func `a file keeps its owner when another user's process writes it`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("c.json")
        let store = FileCredentialStore(file: file)
        let credentials = OAuthCredentials(accessToken: "a", received: Date())
        try await store.save(credentials)
        #expect(chown(file.path, 1_000, 1_000) == 0)
        try? await store.save(credentials)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(status.st_uid == 1_000)
    }
}

/// A store whose disk is full.
private final class FailingStore: PlainStore {
    let fails = Locked(true)
    private let kept = Locked<OAuthCredentials?>(nil)

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func write(_ credentials: OAuthCredentials?) async throws {
        if fails.withLock({ $0 }) { throw TestFailure() }
        kept.withLock { $0 = credentials }
    }
}
