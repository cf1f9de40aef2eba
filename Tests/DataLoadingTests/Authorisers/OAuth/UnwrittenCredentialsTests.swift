// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// New credentials that could not be written, and a store that another process empties.
@Suite(.timeLimit(.minutes(15))) struct UnwrittenCredentialsTests {
    private static func credentials(_ name: String) -> OAuthCredentials {
        OAuthCredentials(
            accessToken: "access-\(name)", refreshToken: "refresh-\(name)",
            received: Date(timeIntervalSince1970: 1_767_225_600))
    }

    /// What an authoriser knows that has read the first ones and could not write the second ones.
    private func state() -> StoredCredentials.State {
        var state = StoredCredentials.State()
        _ = state.compare(Self.credentials("1"))
        let epoch = state.epoch
        _ = state.record(Self.credentials("2"), of: epoch)
        return state
    }

    @Test func `they are kept in memory, and not written where a person may have logged out`() {
        var state = state()
        let isWritten = !state.differsFromStore
        #expect(!isWritten)
        for _ in 0..<2 {
            guard case .unchanged(let newest?) = state.compare(nil) else {
                Issue.record("the newest credentials are lost")
                return
            }
            #expect(newest == Self.credentials("2"))
            #expect(!state.differsFromStore)
            #expect(state.desiredContent(for: nil) == nil)
            state.didStore(nil)
        }
    }

    @Test func `they are written again once they were refreshed`() {
        var state = state()
        _ = state.compare(nil)
        let epoch = state.epoch
        let isRecorded = state.record(Self.credentials("3"), of: epoch)
        #expect(isRecorded)
        #expect(state.differsFromStore)
        #expect(state.desiredContent(for: nil) == Self.credentials("3"))
    }

    @Test func `they give way to what another process writes`() {
        var state = state()
        _ = state.compare(nil)
        guard case .replaced(let newer) = state.compare(Self.credentials("9")) else {
            Issue.record("another process's credentials are not seen")
            return
        }
        #expect(newer == Self.credentials("9"))
        #expect(!state.differsFromStore)
    }

    @Test func `written ones are given up when another process deletes them`() {
        var state = state()
        state.didStore(Self.credentials("2"))
        guard case .deleted = state.compare(nil) else {
            Issue.record("a deletion is not seen")
            return
        }
    }

    @Test func `an authoriser refreshes them without a login though the store was emptied`() async {
        let store = OnceStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.isFull.withLock { $0 = true }
        test.clock.advance(by: .seconds(3_600))
        #expect(await test.load()?.error == nil)
        store.kept.withLock { $0 = nil }
        store.isFull.withLock { $0 = false }
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        await test.untilAsked(2, orEnded: 3)
        #expect(test.person.asked.elements.count == 1)
        #expect(await test.ends(3)[2]?.error == nil)
        #expect(test.provider.asked("refresh_token") == 2)
        #expect(store.kept.withLock { $0 }?.refreshToken == "refresh-4")
        test.expectNoViolation()
    }
}

/// A store whose disk is full at times.
private final class OnceStore: PlainStore {
    let kept = Locked<OAuthCredentials?>(nil)
    let isFull = Locked(false)

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func write(_ credentials: OAuthCredentials?) async throws {
        if isFull.withLock({ $0 }) { throw TestFailure() }
        kept.withLock { $0 = credentials }
    }
}
