// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
@testable import DataLoadingTesting
import Foundation
import Testing

/// A store that does as a test says.
private final class OddStore: PlainStore {
    let kept = Locked<OAuthCredentials?>(nil)
    let refusesDeletion = Locked(false)
    struct Hook: Sendable { var run: @Sendable () -> Void = {} }
    let onSave = Locked(Hook())

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func write(_ credentials: OAuthCredentials?) async throws {
        if credentials == nil, refusesDeletion.withLock({ $0 }) { throw TestFailure() }
        kept.withLock { $0 = credentials }
        onSave.withLock { $0 }.run()
    }
}

/// Stores that cannot do what they are asked.
@Suite struct OAuthFailingStoreTests {
    @Test(.timeLimit(.minutes(15)))
    func `a log-out deletes its file when another process releases the lock`()
        async throws
    {
        let directory = TemporaryDirectory()
        let file = directory.url("credentials.json")
        let clock = ManualClock()
        let store = FileCredentialStore(file: file, timekeeper: clock.timekeeper)
        let test = OAuthBed(store: store)
        await test.logIn()
        try await FileCredentialStore(file: file).withLock {
            try await clock.advance(by: .seconds(60)) { await test.factory.reset() }
        }
        #expect(test.person.complaints.elements.count == 1)
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
        while try await store.load() != nil {
            await Task.yield()
            test.clock.advance(by: .seconds(1))
        }
        #expect(test.provider.state.withLock { $0.revoked } == ["refresh-2", "access-2"])
    }

    @Test func `credentials that a store cannot delete are not used after a log-out`()
        async
    {
        let store = OddStore()
        let test = OAuthBed(store: store) { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.revocation = nil
            configuration.server = .endpoints(endpoints)
        }
        await test.logIn()
        store.refusesDeletion.withLock { $0 = true }
        await test.factory.reset()
        test.perform()
        await test.untilAsked(2, orEnded: 2)
        #expect(test.sent == ["Bearer access-2"])
        #expect(test.person.asked.elements.count == 2)
        await test.person.pages.call(1).answer(nil)
        // Nothing is left to be tried again.
        store.refusesDeletion.withLock { $0 = false }
        await test.factory.reset()
    }

    // A process that is started anew must not continue as the person who has logged out.
    @Test(.timeLimit(.minutes(15)))
    func `a log out that the store could not delete is tried again until it is deleted`()
        async
    {
        let store = OddStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.refusesDeletion.withLock { $0 = true }
        await test.factory.reset()
        #expect(test.person.complaints.elements.count == 1)
        #expect(store.kept.withLock { $0 } != nil)
        await test.untilTimer(within: .seconds(1))
        store.refusesDeletion.withLock { $0 = false }
        test.clock.advance(by: .seconds(1))
        await eventually { store.kept.withLock { $0 } == nil }
        let restarted = OAuthBed(store: store)
        restarted.perform()
        await restarted.untilAsked(1, orEnded: 1)
        #expect(restarted.person.asked.elements.count == 1)
        #expect(restarted.sent.isEmpty)
        await restarted.person.pages.call(0).answer(nil)
        await restarted.factory.reset()
    }

    /// The clock of an authoriser that was dropped after a log out that its store refused.
    private func clockAfterRefusedLogOut(_ store: OddStore) async -> ManualClock {
        let test = OAuthBed(store: store)
        await test.logIn()
        store.refusesDeletion.withLock { $0 = true }
        await test.factory.reset()
        await test.untilTimer(within: .seconds(1))
        test.goesOn.withLock { $0 = true }
        return test.clock
    }

    @Test(.timeLimit(.minutes(15)))
    func `a log out that the store could not delete outlives its authoriser`() async {
        let store = OddStore()
        let clock = await clockAfterRefusedLogOut(store)
        #expect(store.kept.withLock { $0 } != nil)
        store.refusesDeletion.withLock { $0 = false }
        clock.advance(by: .seconds(1))
        await eventually { store.kept.withLock { $0 } == nil }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a dropped authoriser gives a store up that cannot delete for an hour`() async {
        weak var released: OddStore?
        let clock: ManualClock
        do {
            let store = OddStore()
            released = store
            clock = await clockAfterRefusedLogOut(store)
        }
        await clock.waitForAlarms(1)
        #expect(released != nil)
        // One advance may end between two retries.
        await eventually {
            clock.advance(by: .seconds(3_600))
            return released == nil
        }
        await eventually { clock.pendingAlarms == 0 }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a deletion that is tried again leaves the next login alone`() async {
        let store = OddStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.refusesDeletion.withLock { $0 = true }
        await test.factory.reset()
        store.refusesDeletion.withLock { $0 = false }
        test.perform()
        await test.consent(1)
        _ = await test.ends(2)
        let kept = store.kept.withLock { $0 }
        test.clock.advance(by: .seconds(60))
        #expect(await test.load()?.error == nil)
        #expect(kept?.accessToken == "access-4")
        #expect(store.kept.withLock { $0 } == kept)
    }

    @Test func `a revocation that fails is told to the delegate`() async {
        let test = OAuthBed { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.revocation = testURL("https://auth.test/nowhere")
            configuration.server = .endpoints(endpoints)
        }
        await test.logIn()
        await test.factory.reset()
        // The refresh token, and the access token.
        #expect(test.person.unrevoked.elements.count == 2)
    }

    @Test func `a login follows a refused refresh though the store cannot delete`() async {
        let store = OddStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.refusesDeletion.withLock { $0 = true }
        test.provider.state.withLock { $0.families = [:] }
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error != nil)
        test.clock.advance(by: .seconds(30))
        test.perform()
        await test.untilAsked(2, orEnded: 3)
        #expect(test.person.asked.elements.count == 2)
        #expect(test.provider.asked("refresh_token") == 1)
        await test.person.pages.call(1).answer(nil)
        await test.factory.reset()
    }

    @Test(arguments: [-315_360_000.0, 315_360_000])
    func `a new token's life is counted from its receipt though the clock jumps while it is stored`(
        seconds: Double
    ) async {
        let store = OddStore()
        let test = OAuthBed(store: store)
        let clock = test.clock
        store.onSave.withLock {
            $0.run = {
                // Once: a time server sets the clock right.
                guard abs(clock.date.timeIntervalSince1970 - 1_767_225_600) < 10 else { return }
                clock.setDate(clock.date.addingTimeInterval(seconds))
            }
        }
        test.perform()
        await test.consent()
        _ = await test.ends(1)
        #expect(test.provider.asked("refresh_token") == 0)
        test.expectNoViolation()
    }

    @Test func `a store that never answers fails loads and does not hold a log-out`() async {
        let store = HungStore()
        let test = OAuthBed(store: store)
        // As a load in chunks, which has no deadline of its own.
        test.loader.perform(
            .make("/long", host: "https://origin.test") { $0.timeout = .seconds(36_000) })
        await eventually { store.loads.withLock { $0 } == 1 }
        test.clock.advance(by: .seconds(30))
        let reason = "no answer in 30 seconds"
        #expect(
            await test.ends(1)[0]?.error?.underlyingError as? AuthorisationError
                == .store(reason: reason))
        async let reset = test.factory.reset()
        await eventually { store.loads.withLock { $0 } == 2 }
        // The store may be asked before the limit is set.
        let end = test.clock.instant + .seconds(90)
        await eventually { test.bed.service.runtime.timerQueue.earliest == end }
        test.clock.advance(by: .seconds(90))
        _ = await reset
        store.release.record(())
    }
}

/// A store whose keychain asks a person who is not there.
private final class HungStore: PlainStore {
    let loads = Locked(0)
    let release = EventRecorder<Void>()

    func load() async -> OAuthCredentials? {
        loads.withLock { $0 += 1 }
        _ = await release.first(1)
        return nil
    }

    func write(_ credentials: OAuthCredentials?) async {}
}
