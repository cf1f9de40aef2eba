// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A cancelled load ends once, as cancelled, at any stage, and nothing of it continues.
@Suite struct CancellationTests {
    @Test(arguments: Stage.allCases)
    func `a cancelled load ends once, as cancelled, and releases everything`(stage: Stage) async {
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
        if stage == .authorising {
            #expect(await load.authoriser.calls(2).last == .cancel("/staged"))
        }
        load.endBlocker()
        load.bed.advance(.seconds(120))
        #expect(load.bed.transport.attempts.count == attempts)
        #expect(load.weakLoad == nil)
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Stage.allCases)
    func `a cancelled load is not sent when an answer, a slot or the end of a pause follows`(
        stage: Stage
    ) async {
        let load = await StagedLoad(stage)
        let attempts = load.bed.transport.attempts.count
        load.token.cancel()
        if stage == .authorising { load.authoriser.grant(0) }
        load.bed.service.rateLimiter.setRequestsPerSecond(
            nil, forHostOf: testURL("http://origin.test"))
        load.endBlocker()
        load.settle(releasing: true)
        load.bed.advance(.seconds(120))
        #expect(load.bed.transport.attempts.count == attempts)
        #expect(load.outcomes.count == 1)
    }

    @Test(arguments: Stage.allCases)
    func `a load ends with its loader, calls no delegate and leaves nothing behind`(stage: Stage)
        async
    {
        let load = await StagedLoad(stage)
        let calls = load.delegate.events.count
        let attempt = load.attempt
        load.drop()
        #expect(load.weakLoader == nil)
        if let attempt { #expect(attempt.isCancelled) }
        load.settle(releasing: true)
        #expect(load.delegate.events.count == calls)
        #expect(load.reports.map(\.error) == [.cancelled])
        #expect(load.weakLoad == nil)
        #expect(load.token.isCancelled)
        load.endBlocker()
        load.bed.expectNothingLeft()
    }

    @Test(arguments: Stage.allCases)
    func `a token that is cancelled after its loader has gone does nothing and keeps nothing`(
        stage: Stage
    ) async {
        let load = await StagedLoad(stage)
        let calls = load.delegate.events.count
        let attempts = load.bed.transport.attempts.count
        load.drop()
        // The token does not retain the loader or the load.
        #expect(load.weakLoader == nil)
        load.token.cancel()
        load.settle(releasing: true)
        #expect(load.weakLoad == nil)
        load.token.cancel()
        load.endBlocker()
        load.bed.advance(.seconds(120))
        #expect(load.token.isCancelled)
        #expect(load.delegate.events.count == calls)
        #expect(load.reports.map(\.error) == [.cancelled])
        #expect(load.bed.transport.attempts.count == attempts)
        load.bed.expectNothingLeft()
    }

    @Test func `a token and the end of its loader may race on two threads`() async {
        for round in 0..<200 {
            let bed = TestBed()
            let loader = Locked<DataLoader?>(
                bed.factory.makeDataLoader(delegate: bed.delegate, delivery: .ofTests))
            let queue = loader.withLock { $0?.queue }
            let token = loader.withLock { $0?.perform(.make()) }
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == round % 2 {
                    token?.cancel()
                } else {
                    let last = loader.withLock { $0.take() }
                    withExtendedLifetime(last) {}
                }
            }
            #expect(await bed.observer.entries(1).map(\.response.error) == [.cancelled])
            #expect(token?.isCancelled == true)
            // The loader's queue may still be ending its load.
            queue?.sync {}
            // The delegate is called only if the token ended the load before the release.
            #expect(bed.delegate.events.count <= 1)
            bed.expectNothingLeft()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a load is cancelled with all loads of its loader or service`(stage: Stage) async {
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

    // Cancelled after the outcome.
    @Test func `a cancellation after the outcome of a load changes nothing`() {
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

    // Cancelled in a delegate call.
    @Test func `a delegate may cancel inside any of its calls and then gets the cancellation only`()
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
            // The call that cancelled and one more.
            #expect(bed.delegate.events.count == index + 2)
            guard case .cancelled? = bed.delegate.events.last else {
                Issue.record("\(bed.delegate.events)")
                return
            }
            bed.expectNothingLeft()
        }
    }

    @Test func `a delegate may cancel inside the last call of a load, which stays the last call`() {
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

    @Test func `the slot of a cancelled load goes to the next load`() async {
        let bed = TestBed { $0.limits.perOrigin = 1 }
        let first = bed.loader.perform(.make("/first"))
        bed.loader.perform(.make("/second"))
        #expect(bed.starts.map(\.path) == ["/first"])
        first.cancel()
        bed.settle()
        #expect(bed.starts.map(\.path) == ["/first", "/second"])
    }
}
