// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A load that is cancelled ends as cancelled, once, wherever it stands; nothing of it goes on.
// LC-01, RT-14, RT-16, SP-07 and the list "cancel while".
@Suite struct CancellationTests {
    @Test(arguments: Stage.allCases)
    func `ends as cancelled, once, and lets go of everything`(stage: Stage) async {
        let load = await StagedLoad(stage)
        let attempts = load.bed.transport.attempts.count
        load.token.cancel()
        load.token.cancel()
        #expect(load.token.isCancelled)
        load.settle(releasing: true)
        load.token.cancel()
        #expect(load.outcomes.count == 1)
        guard case .cancelled? = load.outcomes.first else {
            Issue.record("\(load.outcomes)")
            return
        }
        #expect(load.reports.map(\.error) == [.cancelled])
        if let attempt = load.attempt { #expect(attempt.isCancelled) }
        if stage == .authorising { #expect(load.authoriser.calls.last == .cancel("/staged")) }
        load.endBlocker()
        load.bed.advance(.seconds(120))
        #expect(load.bed.transport.attempts.count == attempts)
        #expect(load.weakExchange == nil)
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Stage.allCases)
    func `is never sent when an answer, a slot or a pause comes after it`(stage: Stage) async {
        let load = await StagedLoad(stage)
        let attempts = load.bed.transport.attempts.count
        load.token.cancel()
        if stage == .authorising { load.authoriser.grant(0) }
        load.bed.service.rateLimiter.setRequestsPerSecond(nil, for: testURL("http://origin.test"))
        load.endBlocker()
        load.settle(releasing: true)
        load.bed.advance(.seconds(120))
        #expect(load.bed.transport.attempts.count == attempts)
        #expect(load.outcomes.count == 1)
    }

    // SP-07: when the owner goes, its requests are cancelled, and nobody is called.
    @Test(arguments: Stage.allCases)
    func `ends with its loader, which calls nobody and leaves nothing`(stage: Stage) async {
        let load = await StagedLoad(stage)
        let calls = load.delegate.events.count
        let attempt = load.attempt
        load.drop()
        #expect(load.weakLoader == nil)
        if let attempt { #expect(attempt.isCancelled) }
        load.settle(releasing: true)
        #expect(load.delegate.events.count == calls)
        #expect(load.reports.map(\.error) == [.cancelled])
        #expect(load.weakExchange == nil)
        #expect(load.token.isCancelled)
        load.endBlocker()
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Stage.allCases)
    func `ends with all loads of its loader or service`(stage: Stage) async {
        for cancel in [
            { (load: StagedLoad) in load.loader?.cancelAllLoads() },
            { (load: StagedLoad) in load.bed.service.cancelAllLoads() },
            { (load: StagedLoad) in load.bed.service.invalidateAndCancel() },
        ] {
            let load = await StagedLoad(stage)
            cancel(load)
            load.settle(releasing: true)
            #expect(load.outcomes.count == 1)
            guard case .cancelled? = load.outcomes.first else {
                Issue.record("\(load.outcomes)")
                return
            }
            #expect(load.token.isCancelled)
            load.endBlocker()
            load.bed.expectNothingLeft()
        }
    }

    // Cancel while: after completion.
    @Test func `changes nothing after the end`() {
        let bed = TestBed(otherwise: .respond(status: 200))
        let token = bed.loader.perform(.make())
        bed.settle()
        token.cancel()
        bed.loader.cancelAllLoads()
        bed.settle()
        #expect(!token.isCancelled)
        #expect(bed.delegate.events.count == 1)
        #expect(bed.observer.entries.count == 1)
    }

    // Cancel while: inside a delegate callback.
    @Test func `may come from inside any call of the delegate, and is the last that is heard`()
        async
    {
        for index in 0..<4 {
            let token = Locked<CancellationToken?>(nil)
            let count = Locked(0)
            let delegate = RecordingDelegate(
                supportsChunks: true,
                onEvent: { _ in
                    let mine = count.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    if mine == index { token.withLock { $0 }?.cancel() }
                })
            let bed = TestBed(delegate: delegate)
            let request = DataLoaderRequest.make { $0.chunks = true }
            token.withLock { $0 = bed.loader.perform(request) }
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200)
            for _ in 0..<5 { attempt.send(patternBytes(10)) }
            attempt.end()
            bed.settle()
            // The call that cancelled, and then one more.
            #expect(bed.delegate.events.count == index + 2)
            guard case .cancelled? = bed.delegate.events.last else {
                Issue.record("\(bed.delegate.events)")
                return
            }
            bed.expectNothingLeft()
        }
    }

    @Test func `may come from inside the last call, which stays the last`() {
        for answer in [ScriptedAnswer.respond(status: 200), .fail(.dns), .respond(status: 500)] {
            let token = Locked<CancellationToken?>(nil)
            let delegate = RecordingDelegate(onEvent: { _ in token.withLock { $0 }?.cancel() })
            let bed = TestBed(otherwise: .hold, delegate: delegate)
            let own = bed.loader.perform(.make())
            token.withLock { $0 = own }
            bed.transport.attempts[0].give(answer)
            bed.settle()
            #expect(bed.delegate.events.count == 1)
            #expect(!own.isCancelled)
            bed.expectNothingLeft()
        }
    }

    @Test func `lets the next load have the slot of one that was cancelled`() async {
        let bed = TestBed { $0.limits.perOrigin = 1 }
        let first = bed.loader.perform(.make("/first"))
        bed.loader.perform(.make("/second"))
        #expect(bed.starts.map(\.path) == ["/first"])
        first.cancel()
        bed.settle()
        #expect(bed.starts.map(\.path) == ["/first", "/second"])
    }
}
