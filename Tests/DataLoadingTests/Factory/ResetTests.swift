// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A reset ends every load of its factory and returns when nothing of them remains.
@Suite struct ResetTests {
    @Test func `a reset returns when nothing runs, and resets each authoriser once`() async {
        let authorisers = [TestAuthoriser(), TestAuthoriser()]
        let bed = TestBed(authorisers: authorisers)
        await bed.factory.reset()
        #expect(authorisers.map(\.calls) == [[.reset], [.reset]])
        #expect(bed.transport.resetCount == 0)
    }

    @Test(arguments: Stage.allCases)
    func `a reset ends loads at once, at any stage`(stage: Stage) async {
        let load = await StagedLoad(stage)
        let attempts = load.bed.transport.attempts.count
        let attempt = load.attempt
        let factory = load.bed.factory
        async let reset = factory.reset()
        // The authorisers are reset after the loads.
        _ = await load.authoriser.calls(stage == .authorising ? 3 : 1)
        load.settle(releasing: true)
        _ = await reset
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

    @Test func `a load that was reset is not retried`() async {
        let bed = TestBed()
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 9) })
        _ = await bed.attempt(0)
        await bed.factory.reset()
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        #expect(bed.error == .reset)
    }

    @Test func `loads that are performed during a reset are refused, and later ones are not`() async
    {
        let authoriser = SlowlyReset()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        async let reset = bed.factory.reset()
        _ = await authoriser.resets.first(1)
        bed.loader.perform(.make())
        #expect(bed.error == .resetInProgress)
        authoriser.gate.record(())
        _ = await reset
        bed.loader.perform(.make())
        #expect(bed.error == nil)
        #expect(bed.delegate.events.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `resets during a reset join it, and each authoriser is reset once`()
        async
    {
        let authoriser = SlowlyReset()
        let bed = TestBed(authorisers: [authoriser])
        let over = EventRecorder<String>()
        async let first = bed.factory.reset()
        _ = await authoriser.resets.first(1)
        // Each task runs on this thread until it suspends, so both start while the first one runs.
        let second = Task.immediate {
            await bed.factory.reset()
            over.record("factory")
        }
        let third = Task.immediate {
            await bed.service.reset()
            over.record("service")
        }
        #expect(over.elements.isEmpty)
        authoriser.gate.record(())
        _ = await (first, second.value, third.value)
        #expect(authoriser.resets.elements.count == 1)
        #expect(bed.transport.resetCount == 1)
        // A later reset is a reset of its own.
        await bed.factory.reset()
        #expect(authoriser.resets.elements.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a reset returns although a delegate performs a load whenever one ends`()
        async
    {
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

    @Test func `a reset returns after the last outcome of its loads was delivered`() async {
        let queue = DispatchQueue(label: "owner")
        let mayGoOn = DispatchSemaphore(value: 0)
        let told = EventRecorder<Bool>()
        let isOver = Locked(false)
        let delegate = RecordingDelegate(onEvent: { _ in
            mayGoOn.wait()
            told.record(isOver.withLock { $0 })
        })
        let bed = TestBed(authorisers: [TestAuthoriser()])
        let quick = bed.factory.makeDataLoader(delegate: bed.delegate)
        let slow = bed.factory.makeDataLoader(delegate: delegate, delegateQueue: queue)
        quick.perform(.make("/quick"))
        for index in 0..<3 { slow.perform(.make("/slow\(index)")) }
        _ = await bed.attempt(3)
        // The task runs on this thread until it suspends.
        let resetting = Task.immediate {
            await bed.factory.reset()
            isOver.withLock { $0 = true }
        }
        _ = await bed.delegate.outcomes(1)
        #expect(!isOver.withLock { $0 })
        for _ in 0..<3 { mayGoOn.signal() }
        await resetting.value
        #expect(told.elements == [false, false, false])
        #expect(delegate.events.map { $0.response?.error } == [.reset, .reset, .reset])
        #expect(slow.currentRequests.isEmpty)
        bed.expectNothingLeft()
        // The state is as at the start: the next load is sent like the first one.
        slow.perform(.make("/next"))
        let next = await bed.attempt(4)
        #expect(next.request.headers["Authorization"] == "Bearer token")
        mayGoOn.signal()
        next.respond(status: 200)
        #expect(await delegate.outcomes(4).last?.response?.error == nil)
    }

    @Test func `a reset leaves the loads of other factories alone`() async {
        let bed = TestBed()
        bed.loader.perform(.make())
        await bed.service.makeFactory().reset()
        bed.transport.attempts[0].respond(status: 200)
        #expect(bed.error == nil)
    }

    @Test func `a reset of the service resets every factory, and then the transport once`() async {
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

    @Test func `factories and loaders may be released during a reset`() async {
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
        #expect(bed.service.runtime.contexts.count == 1)
    }

    @Test func `a task that began inside a reset can ask for another reset afterwards`() async {
        let gate = ResetGate()
        let runs = EventRecorder<Int>()
        let isOver = EventRecorder<Void>()
        let left = Locked<Task<Void, Never>?>(nil)
        await gate.perform {
            // As an authoriser does that starts a task in its reset.
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

    @Test func `a reset that is asked for inside a reset does not wait for itself`() async {
        let gate = ResetGate()
        let runs = EventRecorder<Int>()
        await gate.perform {
            runs.record(1)
            await gate.perform { runs.record(2) }
        }
        #expect(runs.elements == [1])
    }
}

/// An authoriser whose reset suspends until the test says so.
private final class SlowlyReset: Authoriser {
    let identifier = "slow"
    let resets = EventRecorder<Void>()
    let gate = EventRecorder<Void>()

    func authorise(_ request: DataLoaderRequest) -> Authorisation { .unchanged }

    func reset() async {
        resets.record(())
        _ = await gate.first(1)
    }
}
