// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// User code that blocks holds up its own factory, and nothing that others share.
@Suite(.timeLimit(.minutes(15))) struct BlockingCodeTests {
    /// Where a load's user code blocks.
    enum Place: CaseIterable, Sendable {
        case redirectPolicy, retryPolicyAfterHead, retryPolicyAfterFailure
        case requiresAuthorisation, authorise, canRecover, requestFailedAuthorisation

        /// What the server answers.
        var answer: ScriptedAnswer {
            switch self {
            case .redirectPolicy: .respond(status: 302, headers: ["Location": "/elsewhere"])
            case .retryPolicyAfterHead: .respond(status: 503)
            case .retryPolicyAfterFailure: .fail(.connectionReset, sent: .written)
            case .canRecover, .requestFailedAuthorisation: .respond(status: 401)
            case .requiresAuthorisation, .authorise: .respond(status: 200)
            }
        }

        func authorisers(_ blocker: Blocker) -> [any Authoriser] {
            switch self {
            case .requiresAuthorisation: [BlockingAuthoriser(.requiresAuthorisation, blocker)]
            case .authorise: [BlockingAuthoriser(.authorise, blocker)]
            case .canRecover: [BlockingAuthoriser(.canRecover, blocker)]
            case .requestFailedAuthorisation:
                [BlockingAuthoriser(.requestFailedAuthorisation, blocker)]
            case .redirectPolicy, .retryPolicyAfterHead, .retryPolicyAfterFailure: []
            }
        }

        func request(_ blocker: Blocker) -> DataLoaderRequest {
            .make("/blocking", host: "http://blocking.test") { request in
                switch self {
                case .redirectPolicy:
                    request.redirectPolicy = .ask { _ in
                        blocker.block()
                        return false
                    }
                case .retryPolicyAfterHead, .retryPolicyAfterFailure:
                    request.retryPolicy = BlockingPolicy(blocker: blocker)
                default: break
                }
            }
        }
    }

    private struct BlockingPolicy: RetryPolicy {
        let blocker: Blocker

        func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
            blocker.block()
            return nil
        }
    }

    /// Performs from a thread of its own, as an owner does.
    private static func perform(_ loader: DataLoader, _ request: DataLoaderRequest) {
        Thread.detachNewThread { loader.perform(request) }
    }

    /// Loads something with a retry through a factory of its own.
    private static func loadWithRetry(_ service: DataLoaderService) async throws -> HTTPStatus {
        let loader = service.makeFactory(authorisers: [TestAuthoriser()]).makeDataLoader()
        let request = DataLoaderRequest.make("/other", host: "http://other.test") {
            $0.retryPolicy = .immediately(maximumRetries: 1)
        }
        return try await loader.response(for: request).statusCode
    }

    @Test(arguments: Place.allCases)
    func `a load of another factory is retried while user code blocks, and the deadline fires`(
        place: Place
    ) async throws {
        let blocker = Blocker()
        let isFirst = Locked(true)
        let answer = ScriptedAnswer.run { attempt in
            if attempt.request.url.path == "/blocking" { return attempt.give(place.answer) }
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            attempt.give(.respond(status: isFirst ? 503 : 200))
        }
        let bed = TestBed(otherwise: answer, authorisers: place.authorisers(blocker))
        Self.perform(bed.loader, place.request(blocker))
        await blocker.blocks()
        #expect(try await Self.loadWithRetry(bed.service) == .ok)
        // The slot of an attempt that is over is not kept while user code decides about it.
        await eventually { bed.service.runtime.admission.load.running == 0 }
        bed.clock.advance(by: .seconds(60))
        let outcome = await bed.outcome()
        guard case .timedOut = outcome?.response?.error else {
            Issue.record("\(String(describing: outcome))")
            return blocker.release()
        }
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `more blocked factories than processors hold up no retry of another one`()
        async throws
    {
        let blocker = Blocker()
        let answer = ScriptedAnswer.run { attempt in
            let isRetry = attempt.request.headers["Attempt"] != nil
            attempt.give(.respond(status: isRetry ? 200 : 503))
        }
        let bed = TestBed(otherwise: answer)
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
        for _ in 0..<count {
            // It lets the first attempt through and blocks before the retry.
            let calls = Locked(0)
            let authoriser = TestAuthoriser(onCall: { _ in
                let number = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if number > 1 { blocker.block() }
            })
            let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
            bed.hold(loader)
            loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 1) })
        }
        await blocker.blocks(count)
        let attempts = Locked(0)
        let counting = TestAuthoriser(
            .change { request in
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                if number > 1 { request.headers["Attempt"] = "2" }
            })
        let loader = bed.service.makeFactory(authorisers: [counting]).makeDataLoader()
        let request = DataLoaderRequest.make("/other", host: "http://other.test") {
            $0.retryPolicy = .immediately(maximumRetries: 1)
        }
        #expect(try await loader.response(for: request).statusCode == .ok)
        #expect(!blocker.gaveUp)
        blocker.release()
    }

    @Test func `cancelling all loads does not wait for an authoriser that blocks in between`() async
    {
        let blocker = Blocker()
        let authoriser = BlockingAuthoriser(.cancelAuthorisation, blocker)
        let bed = TestBed(authorisers: [authoriser])
        let other = bed.service.makeFactory().makeDataLoader()
        bed.loader.perform(.make("/held"))
        await authoriser.holds()
        other.perform(.make("/running"))
        let attempt = await bed.attempt(0)
        Thread.detachNewThread { bed.service.cancelAllLoads() }
        await blocker.blocks()
        await attempt.waitUntilCancelled()
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `a retry policy that blocks keeps no slot while loads stand back from an outage`()
        async
    {
        let blocker = Blocker()
        let bed = TestBed([.fail(.connectRefused)], otherwise: .respond(status: 200)) {
            $0.limits.total = 1
        }
        bed.loader.perform(.make("/first") { $0.maximumRetryCount = 1 })
        bed.settle()
        let blocked = bed.service.makeFactory().makeDataLoader()
        bed.hold(blocked)
        let policy = BlockingPolicy(blocker: blocker)
        Self.perform(blocked, .make("/second") { $0.retryPolicy = policy })
        await blocker.blocks()
        let other = bed.service.makeFactory().makeDataLoader()
        let response = try? await other.response(for: .make("/", host: "http://other.test"))
        #expect(response?.statusCode == .ok)
        #expect(!blocker.gaveUp)
        blocker.release()
        // Its policy wanted no retry, so the attempt that was left out is made.
        _ = await bed.transport.attempts(3)
        while bed.passPause() {}
        #expect(bed.transport.attempts.map(\.request.url.path).contains("/second"))
        bed.expectNothingLeft()
    }

    @Test func `what comes while user code decides is delivered in order, and the transfer paused`()
        async
    {
        let blocker = Blocker()
        let bed = TestBed()
        let body = patternBytes(1_000_000)
        bed.loader.perform(
            .make { request in
                request.chunks = true
                request.retryPolicy = BlockingPolicy(blocker: blocker)
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        await blocker.blocks()
        for start in stride(from: 0, to: body.count, by: 50_000) {
            attempt.send(body[start..<start + 50_000])
        }
        #expect(attempt.isPaused)
        attempt.end()
        #expect(bed.service.runtime.admission.load.running == 0)
        #expect(bed.delegate.events.isEmpty)
        #expect(!blocker.gaveUp)
        blocker.release()
        let outcome = await bed.outcome()
        #expect(outcome?.response?.error == nil)
        #expect(bed.delegate.body == body)
        bed.expectNothingLeft()
    }

    @Test func `a load that is cancelled while it waits for a blocked factory asks nobody`() async {
        let blocker = Blocker()
        let bed = TestBed()
        bed.loader.perform(
            .make("/first") { $0.retryPolicy = BlockingPolicy(blocker: blocker) })
        await bed.attempt(0).respond(status: 503)
        await blocker.blocks()
        let asked = Locked(false)
        let token = bed.loader.perform(
            .make("/second") {
                $0.redirectPolicy = .ask { _ in
                    asked.withLock { $0 = true }
                    return true
                }
            })
        await bed.attempt(1).respond(status: 302, headers: ["Location": "/elsewhere"])
        token.cancel()
        _ = await bed.delegate.outcomes(1)
        #expect(bed.service.runtime.admission.load.running == 0)
        blocker.release()
        bed.settle()
        #expect(!asked.withLock { $0 })
        #expect(bed.transport.attempts.count == 2)
        bed.expectNothingLeft()
    }
}

#if os(Linux)
    extension SocketTests {
        @Suite(.timeLimit(.minutes(15))) struct BlockingCodeSocketTests {
            @Test func `a cancelled load whose user code blocks closes its socket within 100 ms`()
                async throws
            {
                let limit = Duration.milliseconds(100) * patience
                let time = try await fastest(within: limit) {
                    let blocker = Blocker()
                    let server = try LoopbackServer { _ in
                        .status(302, headers: ["Location": "/next", "Content-Length": "10"])
                            .followed(by: .flush, .stall)
                    }
                    let service = DataLoaderService()
                    let loader = service.makeFactory().makeDataLoader()
                    var request = DataLoaderRequest(url: server.url("/first"))
                    request.redirectPolicy = .ask { _ in
                        blocker.block()
                        return false
                    }
                    let token = loader.perform(request)
                    await blocker.blocks()
                    let begun = ContinuousClock.now
                    token.cancel()
                    _ = await server.waitForClosedConnections(1)
                    let time = ContinuousClock.now - begun
                    blocker.release()
                    await service.shutDown(gracePeriod: .zero)
                    return time
                }
                #expect(time < limit)
            }
        }
    }
#endif
