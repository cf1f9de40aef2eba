// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A log out, wherever a login is.
@Suite struct OAuthLogOutTests {
    /// Where a login may be when it is interrupted.
    enum Place: CaseIterable, Sendable {
        case reading, page, exchange, writing, device, ready, refreshing, pausing
    }

    // OL-17
    @Test(arguments: Place.allCases)
    func `a log out comes from every state, and the next load logs in anew`(place: Place)
        async
    {
        let store = HeldStore(holdsLoads: place == .reading, holdsSaves: place == .writing)
        let flow: OAuthConfiguration.Flow =
            place == .device ? .deviceCode : .authorizationCode(redirect: OAuthBed.redirect)
        let test = OAuthBed(flow, store: store)
        let loads = await reach(place, test, store)
        async let reset = test.factory.reset()
        let ends = await test.ends(loads.ended + loads.waiting)
        #expect(ends.suffix(loads.waiting).allSatisfy { $0?.error == .reset })
        if place == .reading {
            // The deletion looks into the store as well. A login not yet given up would continue.
            await store.loads.call(1).answer(nil)
            await store.loads.call(0).answer(nil)
        }
        store.letGo()
        #expect(await reset == LeftBehind())
        #expect(store.kept.withLock { $0 } == nil)
        let pages = test.person.asked.elements.count
        let sent = test.sent.count
        // What was given up may still be about to take its alarm back.
        let timerQueue = test.bed.service.runtime.timerQueue
        await eventually {
            timerQueue.earliest.map { $0 - test.clock.instant > .seconds(5) } ?? true
        }
        test.perform()
        if place == .device {
            _ = await test.person.codes.first(2)
            test.provider.decide(approve: true)
            // The device that was given up may still set an alarm, and take it back.
            await eventually {
                if let next = timerQueue.earliest, next - test.clock.instant <= .seconds(5) {
                    test.clock.advance(by: next - test.clock.instant)
                }
                return test.delegate.events.filter(\.isTerminal).count > ends.count
            }
        } else {
            await test.consent(pages)
        }
        #expect(await test.ends(ends.count + 1).last??.error == nil)
        // No load was sent with what came back from before it.
        #expect(test.sent.count == sent + 1)
        #expect(Set(test.sent).count == test.sent.count)
        // The page of before the log-out is not waited for any more.
        if place == .page { await test.person.pages.call(0).answer(nil) }
    }

    /// Brings a login to a place; returns how many loads have ended, and how many wait.
    private func reach(
        _ place: Place, _ test: OAuthBed, _ store: HeldStore
    ) async -> (ended: Int, waiting: Int) {
        switch place {
        case .reading:
            test.perform(2)
            _ = await store.loads.call(0)
            return (0, 2)
        case .page:
            test.perform(2)
            _ = await test.person.pages.call(0)
            return (0, 2)
        case .exchange:
            test.bed.transport.then(.hold)
            test.perform(2)
            await test.consent()
            _ = await test.bed.attempt(0)
            return (0, 2)
        case .writing:
            test.perform(2)
            await test.consent()
            _ = await store.saves.first(1)
            return (0, 2)
        case .device:
            test.perform(2)
            _ = await test.person.codes.first(1)
            return (0, 2)
        case .ready:
            await test.logIn()
            return (1, 0)
        case .refreshing:
            await test.logIn()
            let asked = test.bed.transport.attempts.count
            test.bed.transport.then(.hold)
            test.clock.advance(by: .seconds(3_600))
            test.perform(2)
            _ = await test.bed.attempt(asked)
            return (1, 2)
        case .pausing:
            await test.logIn()
            test.provider.answerNextTokenQuestion(with: .init(status: 503))
            test.clock.advance(by: .seconds(3_600))
            _ = await test.load()
            return (2, 0)
        }
    }
}
