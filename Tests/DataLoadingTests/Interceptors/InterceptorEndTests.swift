// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// How an intercepted load ends, whatever its interceptors do.
@Suite struct InterceptorEndTests {
    /// Answers by itself when `next` fails.
    private static let fallback = Intercept { request, next in
        do { return try await next(request) } catch { return .made(for: request) }
    }

    @Test func `a cancellation reaches the load inside, and is the outcome`() async throws {
        let bed = TestBed(interceptors: [Self.fallback])
        let token = bed.loader.perform(.make())
        let attempt = await bed.attempt(0)
        token.cancel()
        await attempt.waitUntilCancelled()
        guard case .cancelled = await bed.outcome() else {
            Issue.record("The delegate was not told of a cancellation.")
            return
        }
        #expect(token.isCancelled)
        bed.expectNothingLeft()
        #expect(bed.delegate.events.count == 1)
        #expect(await bed.observer.entries(1)[0].response.error == .cancelled)
    }

    @Test func `a cancellation cancels the task of the interceptors`() async {
        let isCancelled = EventRecorder<Void>()
        let asked = EventRecorder<Void>()
        let waker = Waker()
        let bed = TestBed(interceptors: [
            Intercept { _, _ in
                await withTaskCancellationHandler {
                    asked.record(())
                    await waker.wait()
                } onCancel: {
                    isCancelled.record(())
                }
                throw CancellationError()
            }
        ])
        let token = bed.loader.perform(.make())
        _ = await asked.first(1)
        token.cancel()
        _ = await isCancelled.first(1)
        #expect(await bed.delegate.outcomes(1).count == 1)
        waker.wake()
        bed.expectNothingLeft()
    }

    @Test func `a cancelled task cancels its intercepted load`() async {
        let bed = TestBed(interceptors: [Self.fallback])
        let task = Task { try await bed.loader.response(for: .make()) }
        let attempt = await bed.attempt(0)
        task.cancel()
        await attempt.waitUntilCancelled()
        await #expect(throws: DataLoaderError.cancelled) { try await task.value }
        bed.expectNothingLeft()
    }

    @Test func `a dropped loader cancels what runs inside, and tells nobody`() async {
        let bed = TestBed()
        let delegate = RecordingDelegate()
        let factory = bed.service.makeFactory(interceptors: [Self.fallback])
        var loader: DataLoader? = factory.makeDataLoader(delegate: delegate)
        let token = loader?.perform(.make())
        let attempt = await bed.attempt(0)
        loader = nil
        await attempt.waitUntilCancelled()
        #expect(token?.isCancelled == true)
        #expect(await bed.observer.entries(1)[0].response.error == .cancelled)
        bed.expectNothingLeft()
        #expect(delegate.events.isEmpty)
    }

    @Test func `a reset is the outcome, although an interceptor answers the error inside`()
        async throws
    {
        let bed = TestBed(interceptors: [Self.fallback]) { $0.limits.perOrigin = 1 }
        for _ in 0..<10 { bed.loader.perform(.make()) }
        let attempt = await bed.attempt(0)
        bed.settle()
        let left = await bed.factory.reset()
        #expect(left.isEmpty)
        await attempt.waitUntilCancelled()
        let outcomes = await bed.delegate.outcomes(10)
        #expect(outcomes.allSatisfy { $0.response?.error == .reset })
        // No waiting load inside was sent only to be cancelled.
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `every reset is the outcome of every load, at whatever moment it comes`() async {
        // Each round begins the reset while the interceptors of other loads are elsewhere.
        for round in 0..<50 {
            let bed = TestBed(
                otherwise: round.isMultiple(of: 2) ? .hold : .respond(status: 200),
                interceptors: [Self.fallback])
            for _ in 0..<5 { bed.loader.perform(.make()) }
            #expect(await bed.factory.reset().isEmpty)
            let outcomes = await bed.delegate.outcomes(5)
            for outcome in outcomes {
                let error = outcome.response?.error
                let isMade = outcome.response?.headers["X-Made"] != nil
                #expect(error == .reset || error == nil && !isMade)
            }
            #expect(bed.delegate.events.count == 5)
            bed.expectNothingLeft()
        }
    }

    @Test func `a load during a reset never reaches an interceptor`() async {
        let passOn = PassOn()
        let authoriser = TestAuthoriser()
        let bed = TestBed(authorisers: [authoriser], interceptors: [passOn])
        bed.service.runtime.openness.withLock { $0.isResetting = true }
        bed.loader.perform(.make())
        #expect(await bed.outcome()?.response?.error == .resetInProgress)
        #expect(passOn.requests.elements.isEmpty)
        bed.service.runtime.openness.withLock { $0.isResetting = false }
    }

    @Test func `a shut-down without a grace period cancels, and one with it lets next load`()
        async throws
    {
        let held = TestBed(interceptors: [Self.fallback])
        held.loader.perform(.make())
        _ = await held.attempt(0)
        #expect(await held.service.shutDown(gracePeriod: .zero).isEmpty)
        guard case .cancelled = await held.outcome() else {
            Issue.record("The delegate was not told of a cancellation.")
            return
        }

        let hold = HoldOn()
        let bed = TestBed(otherwise: .respond(status: 200), interceptors: [hold])
        bed.loader.perform(.make())
        _ = await hold.asked.first(1)
        async let left = bed.service.shutDown(gracePeriod: .seconds(10))
        await bed.clock.waitForAlarms(1, within: .seconds(10))
        #expect(bed.service.runtime.isClosing)
        hold.letGo()
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(await left.isEmpty)
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `an invalidated service ends intercepted loads at once`() async {
        let hold = HoldOn()
        let bed = TestBed(interceptors: [hold])
        bed.loader.perform(.make())
        _ = await hold.asked.first(1)
        bed.service.invalidateAndCancel()
        guard case .cancelled = await bed.outcome() else {
            Issue.record("The delegate was not told of a cancellation.")
            return
        }
        hold.letGo()
        bed.loader.perform(.make())
        #expect(await bed.delegate.outcomes(2)[1].response?.error == .serviceInvalidated)
        #expect(hold.asked.elements.count == 1)
    }

    @Test func `an interceptor that never returns ends at the deadline of its load`() async throws {
        let hold = HoldOn()
        let bed = TestBed(interceptors: [hold])
        bed.loader.perform(.make { $0.timeout = .seconds(5) })
        _ = await hold.asked.first(1)
        bed.advance(.seconds(5))
        let error = try #require(bed.error)
        #expect(error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: false))
        // Nothing of the load is left, though the interceptor still runs.
        bed.expectNothingLeft()
        hold.letGo()
        guard case .failure(let late) = await hold.results.first(1)[0] else {
            Issue.record("A load inside began after the end.")
            return
        }
        #expect(late as? DataLoaderError == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        #expect(bed.delegate.events.count == 1)
    }

    @Test(arguments: [false, true])
    func `the deadline covers what runs inside, and says whether it may have been sent`(
        isSent: Bool
    ) async throws {
        let bed = TestBed(interceptors: [Self.fallback])
        if !isSent {
            let origin = testURL("http://origin.test")
            bed.service.rateLimiter.setRequestsPerSecond(0, forHostOf: origin)
        }
        bed.loader.perform(.make())
        if isSent { _ = await bed.attempt(0) } else { bed.settle() }
        bed.advance(.seconds(60))
        #expect(bed.error == .timedOut(after: .seconds(60), mayHaveBeenProcessed: isSent))
        bed.expectNothingLeft()
    }

    @Test func `a load inside has the time that its outer load has left`() async throws {
        let errors = EventRecorder<any Error>()
        let bed = TestBed(interceptors: [
            Intercept { request, next in
                var short = request
                short.timeout = .seconds(2)
                do { return try await next(short) } catch { errors.record(error) }
                var long = request
                long.timeout = .seconds(1_000)
                return try await next(long)
            }
        ])
        bed.loader.perform(.make { $0.timeout = .seconds(5) })
        _ = await bed.attempt(0)
        bed.advance(.seconds(2))
        let first = await errors.first(1)[0] as? DataLoaderError
        #expect(first == .timedOut(after: .seconds(2), mayHaveBeenProcessed: true))
        _ = await bed.attempt(1)
        bed.advance(.seconds(3))
        #expect(bed.error == .timedOut(after: .seconds(5), mayHaveBeenProcessed: true))
        bed.expectNothingLeft()
    }

    @Test func `an interceptor that answers early ends the loads it left behind`() async throws {
        let started = EventRecorder<Void>()
        let left = EventRecorder<Task<DataLoaderResponse, any Error>>()
        let bed = TestBed(interceptors: [
            Intercept { request, next in
                left.record(Task { try await next(request) })
                _ = await started.first(1)
                return .made(for: request)
            }
        ])
        bed.loader.perform(.make())
        let attempt = await bed.attempt(0)
        started.record(())
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(response.metrics.source == .interceptor)
        await attempt.waitUntilCancelled()
        // The load is reported when the one inside has closed its socket, with its bytes.
        #expect(await bed.observer.entries(1)[0].response.metrics.attempts == 1)
        await #expect(throws: DataLoaderError.cancelled) { try await left.elements[0].value }
        bed.expectNothingLeft()
    }
}
