// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A store that does as a test says.
private final class OddStore: OAuthCredentialStore {
    let kept = Locked<OAuthCredentials?>(nil)
    let refusesDeletion = Locked(false)
    struct Hook: Sendable { var run: @Sendable () -> Void = {} }
    let onSave = Locked(Hook())

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func save(_ credentials: OAuthCredentials?) async throws {
        if credentials == nil, refusesDeletion.withLock({ $0 }) { throw TestFailure() }
        kept.withLock { $0 = credentials }
        onSave.withLock { $0 }.run()
    }
}

/// Stores that cannot do what they are asked.
@Suite(.timeLimit(.minutes(1))) struct OAuthFailingStoreTests {
    private func loggedIn(_ test: OAuthBed) async {
        test.perform()
        await test.consent()
        _ = await test.ends(1)
    }

    private func eventually(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test func `deletes the file of a log out though another process has the lock`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("credentials.json")
        let clock = ManualClock()
        let store = FileCredentialStore(file: file, timekeeper: clock.timekeeper)
        let test = OAuthBed(store: store)
        await loggedIn(test)
        try await FileCredentialStore(file: file).withLock {
            async let reset: Void = test.factory.reset()
            await clock.waitForAlarms(1)
            clock.advance(by: .seconds(60))
            await reset
        }
        #expect(try await store.load() == nil)
    }

    @Test func `does not go on as the person who has logged out when the store cannot delete`()
        async
    {
        let store = OddStore()
        let test = OAuthBed(store: store) { configuration, provider in
            var endpoints = provider.endpoints
            endpoints.revocation = nil
            configuration.server = .endpoints(endpoints)
        }
        await loggedIn(test)
        store.refusesDeletion.withLock { $0 = true }
        await test.factory.reset()
        test.perform()
        await eventually {
            test.person.asked.elements.count == 2
                || test.delegate.events.filter(\.isTerminal).count == 2
        }
        #expect(test.sent == ["Bearer access-2"])
        #expect(test.person.asked.elements.count == 2)
        await test.factory.reset()
    }

    @Test func `logs in after a refused refresh though the store cannot delete`() async {
        let store = OddStore()
        let test = OAuthBed(store: store)
        await loggedIn(test)
        store.refusesDeletion.withLock { $0 = true }
        test.provider.state.withLock { $0.families = [:] }
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error != nil)
        test.clock.advance(by: .seconds(30))
        test.perform()
        await eventually {
            test.person.asked.elements.count == 2
                || test.delegate.events.filter(\.isTerminal).count == 3
        }
        #expect(test.person.asked.elements.count == 2)
        #expect(test.provider.asked("refresh_token") == 1)
        await test.factory.reset()
    }

    @Test(arguments: [-315_360_000.0, 315_360_000])
    func `counts a new token's life from its receipt though the clock jumps while it is kept`(
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
}
