// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// User code is called without a lock held, so it may call back, cancel or release anything.
@Suite struct ReentrancyTests {
    /// A policy that runs a closure before it answers.
    private struct DoingPolicy: RetryPolicy {
        let body: @Sendable () -> Void

        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
            body()
            return .zero
        }
    }

    /// An authoriser that never answers and blocks when its question is cancelled.
    private final class StuckAuthoriser: Authoriser {
        let release = DispatchSemaphore(value: 0)

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            HeldQuestion(request).authorisation { [release] in release.wait() }
        }
    }

    @Test func `an authoriser that blocks when its load times out delays no other timer`() async {
        let stuck = StuckAuthoriser()
        let bed = TestBed(authorisers: [stuck])
        bed.loader.perform(.make { $0.timeout = .seconds(1) })
        let delegate = RecordingDelegate()
        let loader = bed.service.makeFactory().makeDataLoader(
            delegate: delegate, delivery: .ofTests)
        loader.perform(.make { $0.timeout = .seconds(2) })
        // If both timers were on one thread, the clock would not return.
        let hasMoved = LoopbackGate()
        Thread.detachNewThread {
            bed.clock.advance(by: .seconds(5))
            hasMoved.open()
        }
        let ends = await delegate.outcomes(1)
        #expect(ends.map { $0.response?.error?.name } == ["timed_out"])
        #expect(ends.first?.response?.requestTime == .seconds(2))
        await hasMoved.opened()
        #expect(bed.clock.elapsed == .seconds(5))
        stuck.release.signal()
        #expect(await bed.outcome()?.response?.error?.name == "timed_out")
    }

    @Test func `policies and authorisers may cancel loads when they are called`() async {
        for place in 0..<3 {
            let bed = Locked<TestBed?>(nil)
            let cancel: @Sendable () -> Void = { bed.withLock { $0 }?.loader.cancelAllLoads() }
            let authoriser = TestAuthoriser(onCall: {
                if place == 2, case .failed = $0 { cancel() }
            })
            let answers: [ScriptedAnswer] = [
                .fail(.dns), .respond(status: 302, headers: ["Location": "/b"]),
                .respond(status: 401),
            ]
            let made = TestBed(
                [answers[place]], otherwise: .respond(status: 200), authorisers: [authoriser])
            bed.withLock { $0 = made }
            made.loader.perform(
                .make { request in
                    if place == 0 { request.retryPolicy = DoingPolicy(body: cancel) }
                    request.redirectPolicy = .ask { _ in
                        cancel()
                        return true
                    }
                })
            _ = await made.outcome()
            #expect(made.error == .cancelled)
            #expect(made.transport.attempts.count == 1)
            bed.withLock { $0 = nil }
            made.expectNothingLeft()
        }
    }

    @Test func `a delegate may perform a request when a load ends, any number of times`() async {
        let loader = Locked<DataLoader?>(nil)
        let left = Locked(200)
        let delegate = RecordingDelegate(onEvent: { event in
            guard event.isTerminal,
                left.withLock({
                    $0 -= 1; return $0 > 0
                })
            else { return }
            loader.withLock { $0 }?.perform(.make())
        })
        let bed = TestBed(otherwise: .respond(status: 200), delegate: delegate)
        loader.withLock { $0 = bed.loader }
        bed.loader.perform(.make())
        #expect(await bed.delegate.outcomes(200).count == 200)
        loader.withLock { $0 = nil }
        bed.expectNothingLeft()
    }

    @Test func `a delegate may release its loader in a call, which is then the last one`() async {
        let owned = Locked<DataLoader?>(nil)
        let delegate = RecordingDelegate(
            supportsChunks: true,
            onEvent: { _ in
                let dropped = owned.withLock { loader in
                    defer { loader = nil }
                    return loader
                }
                withExtendedLifetime(dropped) {}
            })
        let bed = TestBed()
        let queue = DispatchQueue(label: "owner")
        owned.withLock { loader in
            loader = bed.factory.makeDataLoader(
                delegate: delegate, delegateQueue: queue, delivery: .ofTests)
            loader?.perform(.make { $0.chunks = true })
        }
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(patternBytes(10))
        await attempt.waitUntilCancelled()
        attempt.end()
        #expect(await bed.observer.entries(1)[0].response.error == .cancelled)
        queue.sync {}
        #expect(delegate.events.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `a delegate may change rates and addresses when it is called`() async {
        let service = Locked<DataLoaderService?>(nil)
        let delegate = RecordingDelegate(onEvent: { _ in
            let service = service.withLock { $0 }
            service?.rateLimiter.setRequestsPerSecond(nil, forHostOf: testURL("http://origin.test"))
            service?.resolver.setAddresses(["10.0.0.1"], forHost: "origin.test")
            service?.cancelAllLoads()
        })
        let bed = TestBed(otherwise: .respond(status: 200), delegate: delegate) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 1)
        }
        service.withLock { $0 = bed.service }
        for _ in 0..<5 { bed.loader.perform(.make()) }
        #expect(await bed.delegate.outcomes(5).count == 5)
        service.withLock { $0 = nil }
        bed.expectNothingLeft()
    }

    /// An error that cancels its load when it is released.
    private final class CancellingError: Error {
        private let cancel: @Sendable () -> Void

        init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }

        deinit { cancel() }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an error that was never delivered may cancel its load when it is released`() {
        let queue = DispatchQueue(label: "suspended")
        let token = Locked<CancellationToken?>(nil)
        let bed = TestBed(
            otherwise: .run { attempt in
                let error = CancellingError { token.withLock { $0 }?.cancel() }
                attempt.fail(.tls, underlyingError: error)
            }, delegateQueue: queue)
        queue.suspend()
        let own = bed.loader.perform(.make())
        token.withLock { $0 = own }
        bed.service.runtime.queue.sync {}
        bed.transport.flush()
        own.cancel()
        queue.resume()
        #expect(bed.error == .cancelled)
        bed.expectNothingLeft()
    }

    @Test func `a load in chunks times out though its delegate's queue is blocked`()
        async
    {
        let queue = DispatchQueue(label: "blocked")
        let bed = TestBed(delegateQueue: queue)
        queue.suspend()
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.timeout = .seconds(1)
            })
        bed.clock.advance(by: .seconds(1))
        queue.resume()
        #expect(bed.error == .timedOut(after: .seconds(1), mayHaveBeenProcessed: false))
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }
}
