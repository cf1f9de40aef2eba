// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// A reset and a shutdown wait for blocked user code up to a limit and report what they left.
@Suite(.timeLimit(.minutes(15))) struct BlockedUserTests {
    @Test func `a reset of the service returns after 2 s although a delegate blocks`() async throws
    {
        let blocker = Blocker()
        let delegate = RecordingDelegate(onEvent: { _ in blocker.block() })
        let first = TestAuthoriser()
        let second = TestAuthoriser()
        let bed = TestBed(
            otherwise: .respond(status: 200), authorisers: [first], delegate: delegate)
        let other = bed.service.makeFactory(authorisers: [second]).makeDataLoader()
        bed.loader.perform(.make())
        await blocker.blocks()
        let service = bed.service
        let reset = Task { await service.reset() }
        // Every factory is reset before anything is waited for.
        _ = await first.calls(2)
        _ = await second.calls(1)
        await bed.passHandOverLimit()
        let left = await reset.value
        #expect(left.loads == 1)
        #expect(left.authorisers == 0)
        #expect(!left.isEmpty)
        #expect(bed.transport.resetCount == 1)
        #expect(try await other.response(for: .make("/after")).statusCode == .ok)
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.settle()
        #expect(await service.reset().isEmpty)
    }

    @Test func `a joined reset tells both callers what it left behind`() async {
        let gate = ResetGate()
        let isInside = EventRecorder<Void>()
        let mayEnd = EventRecorder<Void>()
        var left = LeftBehind()
        left.loads = 7
        let first = Task { [left] in
            await gate.leftBehind {
                isInside.record(())
                _ = await mayEnd.first(1)
                return left
            }
        }
        _ = await isInside.first(1)
        let joins = EventRecorder<Void>()
        let second = Task {
            joins.record(())
            return await gate.leftBehind { LeftBehind() }
        }
        _ = await joins.first(1)
        await eventually { gate.waiting == 1 }
        mayEnd.record(())
        #expect(await first.value == left)
        #expect(await second.value == left)
    }

    @Test func `an authoriser whose reset hangs closes only its own factory, for 150 s`()
        async throws
    {
        let hanging = HangingReset()
        let witness = TestAuthoriser()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [hanging, witness])
        let service = bed.service
        let reset = Task { await service.reset() }
        _ = await hanging.resets.first(1)
        // The authorisers of one factory do not wait for each other.
        _ = await witness.calls(1)
        bed.loader.perform(.make())
        #expect(bed.error == .resetInProgress)
        let other = service.makeFactory().makeDataLoader()
        await #expect(throws: DataLoaderError.resetInProgress) {
            try await other.response(for: .make())
        }
        let end = bed.clock.instant + .seconds(5)
        await eventually { service.runtime.timerQueue.earliest == end }
        bed.clock.advance(by: .seconds(5))
        await eventually { !service.runtime.openness.withLock { $0.isResetting } }
        #expect(bed.transport.resetCount == 1)
        #expect(try await other.response(for: .make()).statusCode == .ok)
        await #expect(throws: DataLoaderError.resetInProgress) {
            try await bed.loader.response(for: .make())
        }
        bed.clock.advance(by: .seconds(145))
        let left = await reset.value
        #expect(left.authorisers == 1)
        #expect(left.loads == 0)
        #expect(try await bed.loader.response(for: .make()).statusCode == .ok)
        hanging.letGo.record(())
    }

    @Test func `a reset in a cancelled task still does everything`() async {
        let authoriser = TestAuthoriser()
        let bed = TestBed(authorisers: [authoriser])
        let service = bed.service
        let left = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await service.reset()
        }.value
        #expect(left.isEmpty)
        #expect(authoriser.calls == [.reset])
    }

    @Test func `a reset does not wait for an observer that blocks`() async {
        let blocker = Blocker()
        let observer = BlockingObserver(blocker)
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.service.addConsumptionObserver(observer, on: DispatchQueue(label: "blocked"))
        bed.loader.perform(.make())
        await blocker.blocks()
        #expect(await bed.service.reset().isEmpty)
        #expect(await bed.service.shutDown(gracePeriod: .zero).isEmpty)
        #expect(!blocker.gaveUp)
        blocker.release()
    }

    @Test func `a reset returns after 2 s although a sink blocks`() async {
        let blocker = Blocker()
        let bed = TestBed()
        bed.loader.perform(
            .make {
                $0.responseSink = .outputStream {
                    blocker.block()
                    return OutputStream(toMemory: ())
                }
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        await blocker.blocks()
        let service = bed.service
        let reset = Task { await service.reset() }
        await attempt.waitUntilCancelled()
        await bed.passHandOverLimit()
        #expect(await reset.value.loads == 1)
        #expect(!blocker.gaveUp)
        blocker.release()
        _ = await bed.delegate.outcomes(1)
        bed.expectNothingLeft()
    }

    @Test func `a shutdown reports the loads that a blocked delegate queue has not taken`() async {
        let queue = DispatchQueue(label: "blocked")
        let bed = TestBed(delegateQueue: queue)
        for _ in 0..<3 { bed.loader.perform(.make()) }
        queue.suspend()
        let service = bed.service
        let end = Task { await service.shutDown(gracePeriod: .zero) }
        await bed.passHandOverLimit()
        #expect(await end.value.loads == 3)
        queue.resume()
        bed.settle()
        #expect(await service.shutDown(gracePeriod: .zero).isEmpty)
    }

    @Test func `a transport that hangs is waited for 30 s`() async {
        let clock = ManualClock()
        var configuration = DataLoaderService.Configuration()
        let transport = HangingTransport()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let reset = Task { await service.reset() }
        _ = await transport.calls.first(1)
        await clock.waitForAlarms(1, within: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(await reset.value.transport)
        let end = Task { await service.shutDown(gracePeriod: .zero) }
        _ = await transport.calls.first(2)
        await clock.waitForAlarms(1, within: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(await end.value.transport)
        transport.letGo.record(())
    }
}

extension TestBed {
    /// Advances the clock by the 2 s for delivering outcomes, once they have begun.
    fileprivate func passHandOverLimit() async {
        let end = clock.instant + .seconds(2)
        await eventually { service.runtime.timerQueue.earliest == end }
        clock.advance(by: .seconds(2))
    }
}

#if os(Linux)
    extension SocketTests {
        @Suite(.timeLimit(.minutes(15))) struct BlockedBodyResetTests {
            @Test func `a reset does not wait for a request body that blocks`() async throws {
                let blocker = Blocker()
                let server = try LoopbackServer { _ in .ok() }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                var request = DataLoaderRequest(url: server.url("/upload"))
                request.method = .put
                request.body = .stream {
                    blocker.block()
                    return InputStream(data: Data("late".utf8))
                }
                loader.perform(request)
                await blocker.blocks()
                #expect(await service.reset().isEmpty)
                let other = DataLoaderRequest(url: server.url("/other"))
                #expect(try await loader.response(for: other).statusCode == .ok)
                #expect(await service.shutDown(gracePeriod: .zero).isEmpty)
                #expect(!blocker.gaveUp)
                blocker.release()
            }
        }
    }
#endif

/// An observer that blocks in its first call.
private final class BlockingObserver: ConsumptionObserver {
    private let blocker: Blocker

    init(_ blocker: Blocker) {
        self.blocker = blocker
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        blocker.block()
    }
}

/// An authoriser whose reset suspends until the test says so, even if cancelled.
private final class HangingReset: Authoriser {
    let identifier = "hanging"
    let resets = EventRecorder<Void>()
    let letGo = EventRecorder<Void>()

    func authorise(_ request: DataLoaderRequest) -> Authorisation { .unchanged }

    func reset() async {
        resets.record(())
        _ = await letGo.first(1)
    }
}

/// A transport that makes no attempts and whose reset and shutdown suspend until the test says so.
private final class HangingTransport: Transport {
    let calls = EventRecorder<Void>()
    let letGo = EventRecorder<Void>()

    func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
        ManualTransport().start(attempt, sink: sink)
    }

    func reset() async {
        calls.record(())
        _ = await letGo.first(1)
    }

    func shutDown() async {
        calls.record(())
        _ = await letGo.first(1)
    }
}
