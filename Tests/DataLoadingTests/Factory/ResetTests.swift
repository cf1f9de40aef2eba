// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// LC-02, RT-17, RT-23, RT-24, BA-15, CA-05, RG-01 and the list "reset while".
@Suite struct ResetTests {
    @Test func `returns when nothing runs, and resets each authoriser once`() async {
        let authorisers = [TestAuthoriser(), TestAuthoriser()]
        let bed = TestBed(authorisers: authorisers)
        await bed.factory.reset()
        #expect(authorisers.map(\.calls) == [[.reset], [.reset]])
        #expect(bed.transport.resetCount == 0)
    }

    @Test(arguments: Stage.allCases)
    func `ends loads at once as reset, wherever they stand`(stage: Stage) async {
        let load = await StagedLoad(stage)
        let attempts = load.bed.transport.attempts.count
        let attempt = load.attempt
        let factory = load.bed.factory
        async let reset: Void = factory.reset()
        // Authorisers come after the loads.
        _ = await load.authoriser.calls(stage == .authorising ? 3 : 1)
        load.settle(releasing: true)
        await reset
        load.settle()
        #expect(load.outcomes.count == 1)
        #expect(load.outcomes.first?.response?.error == .reset)
        #expect(!load.token.isCancelled)
        if let attempt { #expect(attempt.isCancelled) }
        if stage == .authorising {
            #expect(load.authoriser.calls == [.authorise("/staged"), .cancel("/staged"), .reset])
            load.authoriser.grant(0)
        }
        load.endBlocker()
        load.bed.advance(.seconds(120))
        #expect(load.bed.transport.attempts.count == attempts)
        #expect(load.outcomes.count == 1)
        load.bed.expectNothingLeft()
    }

    // RT-17: a load that ended with a reset is never retried.
    @Test func `is never followed by a retry`() async {
        let bed = TestBed()
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 9) })
        _ = await bed.attempt(0)
        await bed.factory.reset()
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        #expect(bed.error == .reset)
    }

    @Test func `refuses loads that come meanwhile, and takes the next ones`() async {
        let authoriser = SlowlyReset()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        async let reset: Void = bed.factory.reset()
        _ = await authoriser.resets.first(1)
        bed.loader.perform(.make())
        #expect(bed.error == .resetInProgress)
        authoriser.gate.record(())
        await reset
        bed.loader.perform(.make())
        #expect(bed.error == nil)
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }

    // Reset while: already resetting.
    @Test func `is joined by another one, so that each authoriser is reset once`() async {
        let authoriser = SlowlyReset()
        let bed = TestBed(authorisers: [authoriser])
        async let first: Void = bed.factory.reset()
        _ = await authoriser.resets.first(1)
        async let second: Void = bed.factory.reset()
        async let third: Void = bed.service.reset()
        authoriser.gate.record(())
        _ = await (first, second, third)
        // The service's may have come after the first two were over.
        #expect(authoriser.resets.elements.count <= 2)
        bed.expectNothingLeft()
    }

    @Test func `returns although an owner performs anew whenever it hears of it`() async {
        let loader = Locked<DataLoader?>(nil)
        let isOver = Locked(false)
        let delegate = RecordingDelegate(onEvent: { _ in
            guard !isOver.withLock({ $0 }) else { return }
            loader.withLock { $0 }?.perform(.make())
        })
        let bed = TestBed(delegate: delegate)
        loader.withLock { $0 = bed.loader }
        bed.loader.perform(.make())
        await bed.factory.reset()
        isOver.withLock { $0 = true }
        bed.loader.cancelAllLoads()
        loader.withLock { $0 = nil }
        #expect(bed.delegate.events.first?.response?.error == .reset)
    }

    @Test func `waits for the outcomes to be handed over`() async {
        let queue = DispatchQueue(label: "owner")
        let bed = TestBed(delegateQueue: queue)
        bed.loader.perform(.make())
        queue.suspend()
        let isOver = Locked(false)
        let resetting = Task {
            await bed.factory.reset()
            isOver.withLock { $0 = true }
        }
        await bed.attempt(0).waitUntilCancelled()
        #expect(!isOver.withLock { $0 })
        queue.resume()
        await resetting.value
        #expect(bed.delegate.events.count == 1)
    }

    @Test func `leaves the loads of other factories alone`() async {
        let bed = TestBed()
        bed.loader.perform(.make())
        await bed.service.makeFactory().reset()
        bed.transport.attempts[0].respond(status: 200)
        #expect(bed.error == nil)
    }

    @Test func `of the service resets every factory, and then the transport once`() async {
        let first = TestAuthoriser()
        let second = TestAuthoriser()
        let bed = TestBed(authorisers: [first])
        let other = bed.service.makeFactory(authorisers: [second])
        let delegate = RecordingDelegate()
        let loader = other.makeDataLoader(delegate: delegate)
        bed.loader.perform(.make())
        loader.perform(.make())
        _ = await bed.attempt(1)
        await bed.service.reset()
        #expect(first.calls.count { $0 == .reset } == 1)
        #expect(second.calls.count { $0 == .reset } == 1)
        #expect(bed.transport.resetCount == 1)
        #expect(bed.error == .reset)
        #expect(delegate.events.first?.response?.error == .reset)
        bed.loader.perform(.make())
        _ = await bed.attempt(2)
    }

    @Test func `is survived by factories and loaders that go meanwhile`() async {
        let bed = TestBed()
        var queues: [DispatchQueue] = []
        for _ in 0..<20 {
            let loader = bed.service.makeFactory().makeDataLoader()
            loader.perform(.make())
            queues.append(loader.queue)
        }
        await bed.service.reset()
        bed.transport.flush()
        for queue in queues { queue.sync {} }
        bed.expectNothingLeft()
        #expect(bed.service.factories.withLock { $0.count } == 1)
    }

    @Test func `is done when a task asks for it that began inside of one that is over`() async {
        let gate = ResetGate()
        let runs = EventRecorder<Int>()
        let isOver = EventRecorder<Void>()
        let left = Locked<Task<Void, Never>?>(nil)
        await gate.perform {
            // As an authoriser that starts its work anew.
            let task = Task {
                _ = await isOver.first(1)
                await gate.perform { runs.record(2) }
            }
            left.withLock { $0 = task }
            runs.record(1)
        }
        isOver.record(())
        await left.withLock { $0 }?.value
        #expect(runs.elements == [1, 2])
    }

    @Test func `does not wait for itself when it is asked for from inside`() async {
        let gate = ResetGate()
        let runs = EventRecorder<Int>()
        await gate.perform {
            runs.record(1)
            await gate.perform { runs.record(2) }
        }
        #expect(runs.elements == [1])
    }
}

/// An authoriser whose reset takes until the test says so.
private final class SlowlyReset: Authoriser {
    let identifier = "slow"
    let resets = EventRecorder<Void>()
    let gate = EventRecorder<Void>()

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { false }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {}

    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse) {}

    func refresh() {}

    func reset() async {
        resets.record(())
        _ = await gate.first(1)
    }
}
