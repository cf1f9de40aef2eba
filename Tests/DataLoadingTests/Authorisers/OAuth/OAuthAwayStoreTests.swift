// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A log out whose store is away: locked, or on a disk that is not there.
@Suite(.timeLimit(.minutes(15))) struct OAuthAwayStoreTests {
    private static func credentials(
        _ name: String, server: String? = nil
    ) -> OAuthCredentials {
        OAuthCredentials(
            accessToken: "\(name)-access", refreshToken: "\(name)-refresh",
            lifetime: .seconds(3_600), received: Date(timeIntervalSince1970: 1_767_225_600),
            server: server)
    }

    private func revoked(_ test: OAuthBed) -> [String] {
        test.provider.state.withLock { $0.revoked }
    }

    /// Logs out while the store is away, which then comes back.
    private func loggedOut(_ store: AwayStore) async -> OAuthBed {
        let test = OAuthBed(store: store)
        store.isAway.withLock { $0 = true }
        await test.factory.reset()
        store.isAway.withLock { $0 = false }
        return test
    }

    private func untilDeleted(_ store: AwayStore, _ test: OAuthBed) async {
        await test.untilTimer(within: .seconds(1))
        // No further: a revocation that begins with the retry has five seconds.
        test.clock.advance(by: .seconds(1))
        await eventually { store.kept.withLock { $0 } == nil }
    }

    @Test func `what a log out could not even read is not used, and is deleted and revoked`()
        async
    {
        let store = AwayStore(Self.credentials("old"))
        let test = OAuthBed(store: store)
        store.isAway.withLock { $0 = true }
        await test.factory.reset()
        #expect(test.person.complaints.elements.count == 1)
        store.isAway.withLock { $0 = false }
        test.perform()
        await test.untilAsked(1, orEnded: 1)
        #expect(test.sent.isEmpty)
        #expect(test.person.asked.elements.count == 1)
        await eventually { revoked(test).count >= 2 }
        #expect(revoked(test) == ["old-refresh", "old-access"])
        await test.person.pages.call(0).answer(nil)
        _ = await test.ends(1)
        // No other store writes it meanwhile.
        await untilDeleted(store, test)
        #expect(revoked(test) == ["old-refresh", "old-access"])
    }

    @Test func `a file that a log-out could not read is deleted later without a load`() async {
        let store = AwayStore(Self.credentials("old"))
        let test = await loggedOut(store)
        await untilDeleted(store, test)
        await eventually { revoked(test).count >= 2 }
        #expect(revoked(test) == ["old-refresh", "old-access"])
    }

    @Test func `what a log out could not read and another server has issued is left alone`()
        async
    {
        let store = AwayStore(Self.credentials("foreign", server: "https://other.test"))
        let test = await loggedOut(store)
        let reads = store.reads.elements.count
        await eventually {
            test.clock.advance(by: .seconds(1))
            return store.reads.elements.count > reads
        }
        await test.factory.reset()
        #expect(store.kept.withLock { $0 }?.accessToken == "foreign-access")
        #expect(revoked(test) == [])
    }

    @Test func `a login after a log out that could not read the store is kept`() async {
        let store = AwayStore(Self.credentials("old"))
        let test = await loggedOut(store)
        await test.logIn()
        let kept = store.kept.withLock { $0 }
        #expect(kept?.accessToken == "access-2")
        test.clock.advance(by: .seconds(60))
        #expect(await test.load()?.error == nil)
        #expect(store.kept.withLock { $0 } == kept)
        #expect(test.person.asked.elements.count == 1)
    }
}

/// A store that is not there at times.
private final class AwayStore: PlainStore {
    let kept: Locked<OAuthCredentials?>
    let isAway = Locked(false)
    let reads = EventRecorder<Void>()

    init(_ credentials: OAuthCredentials) {
        kept = Locked(credentials)
    }

    func load() async throws -> OAuthCredentials? {
        if isAway.withLock({ $0 }) { throw TestFailure() }
        reads.record(())
        return kept.withLock { $0 }
    }

    func write(_ credentials: OAuthCredentials?) async throws {
        if isAway.withLock({ $0 }) { throw TestFailure() }
        kept.withLock { $0 = credentials }
    }
}
