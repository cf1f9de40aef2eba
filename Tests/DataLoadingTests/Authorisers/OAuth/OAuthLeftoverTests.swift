// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
@testable import DataLoadingTesting
import Foundation
import Testing

/// What a log out must not leave with a server, nor tell to another one.
@Suite struct OAuthLeftoverTests {
    @Test func `a log-out neither deletes nor sends another server's credentials`()
        async throws
    {
        let foreign = OAuthCredentials(
            accessToken: "foreign-a", refreshToken: "foreign-r", lifetime: .seconds(3_600),
            received: Date(timeIntervalSince1970: 1_767_225_600), server: "https://other.test")
        let test = OAuthBed(store: MemoryCredentialStore(foreign))
        await test.factory.reset()
        #expect(test.provider.state.withLock { $0.revoked } == [])
        #expect(try await test.store.load() == foreign)
    }

    @Test func `a log-out revokes the tokens though its task is cancelled`() async {
        let test = OAuthBed()
        await test.logIn()
        let impatient = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await test.factory.reset()
        }
        await impatient.value
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
    }

    @Test func `a log-out revokes tokens of a login that waits for the store`()
        async throws
    {
        let directory = TemporaryDirectory()
        let file = directory.url("credentials.json")
        let clock = ManualClock()
        let test = OAuthBed(store: FileCredentialStore(file: file, timekeeper: clock.timekeeper))
        try await FileCredentialStore(file: file).withLock {
            test.perform()
            await test.consent()
            // For the lock.
            await clock.waitForAlarms(1)
            let ends = EventRecorder<Void>()
            let reset = Task {
                await test.factory.reset()
                ends.record(())
            }
            _ = await test.ends(1)
            // The log out waits for it as well, once it has begun.
            await eventually {
                clock.advance(by: .seconds(60))
                return !ends.elements.isEmpty
            }
            _ = await reset.value
        }
        // What came after the log out had begun is given back beside it.
        await eventually { test.provider.state.withLock { $0.revoked.count } >= 2 }
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
        #expect(try await test.store.load() == nil)
    }

    @Test func `a log-out revokes tokens that are stored after it has begun`() async {
        let asked = EventRecorder<Void>()
        let release = EventRecorder<Void>()
        let store = LockedStore {
            asked.record(())
            _ = await release.first(1)
        }
        let test = OAuthBed(store: store)
        test.perform()
        await test.consent()
        _ = await asked.first(1)
        async let reset = test.factory.reset()
        _ = await test.ends(1)
        // So that it has begun.
        for _ in 0..<1_000 { await Task.yield() }
        release.record(())
        _ = await reset
        await eventually { test.provider.state.withLock { $0.revoked.count } >= 2 }
        #expect(test.provider.state.withLock { Set($0.revoked) } == ["refresh-2", "access-2"])
        #expect(await store.load() == nil)
    }

    @Test func `an authoriser stops waiting for a store that never finishes`() async {
        let store = StuckStore()
        let test = OAuthBed(store: store)
        async let reset = test.factory.reset()
        _ = await store.asked.first(1)
        // The store may be asked before the limit is set.
        let end = test.clock.instant + .seconds(120)
        await eventually { test.bed.service.runtime.timerQueue.earliest == end }
        test.clock.advance(by: .seconds(120))
        _ = await reset
        store.release.record(())
    }

    @Test func `a log-out revokes tokens that a store never finishes writing`() async {
        let store = StuckStore()
        let test = OAuthBed(store: store)
        test.perform()
        await test.consent()
        _ = await store.asked.first(1)
        let reset = Task { await test.factory.reset() }
        _ = await test.ends(1)
        let end = test.clock.instant + .seconds(120)
        await eventually { test.bed.service.runtime.timerQueue.earliest == end }
        test.clock.advance(by: .seconds(120))
        _ = await reset.value
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
        store.release.record(())
    }

    @Test
    func `an authoriser keeps the refresh token of a login though the store could not be locked`()
        async
    {
        let fails = Locked(true)
        let store = LockedStore { if fails.withLock({ $0 }) { throw TestFailure() } }
        let test = OAuthBed(store: store)
        await test.logIn()
        #expect(test.person.complaints.elements.count == 1)
        fails.withLock { $0 = false }
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await test.untilAsked(2, orEnded: 2)
        #expect(test.person.asked.elements.count == 1)
        #expect(test.provider.asked("refresh_token") == 1)
        for _ in test.person.asked.elements.dropFirst() {
            await test.person.pages.call(1).answer(nil)
        }
        #expect(await store.load()?.refreshToken == "refresh-3")
        test.expectNoViolation()
    }
}

/// A store that does as a test says before its lock is had.
private final class LockedStore: OAuthCredentialStore {
    private let kept = Locked<OAuthCredentials?>(nil)
    private let lock: @Sendable () async throws -> Void

    init(lock: @escaping @Sendable () async throws -> Void) {
        self.lock = lock
    }

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        try await lock()
        let credentials = try await body(await load())
        kept.withLock { $0 = credentials }
    }
}

/// A store that never returns from a write.
private final class StuckStore: OAuthCredentialStore {
    let asked = EventRecorder<Void>()
    let release = EventRecorder<Void>()

    func load() async -> OAuthCredentials? { nil }

    func update(
        _ body: @Sendable (OAuthCredentials?) async throws -> OAuthCredentials?
    ) async throws {
        _ = try await body(nil)
        asked.record(())
        _ = await release.first(1)
    }
}
