// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// User code that blocks delays its own factory and nothing that factories share.
@Suite(.timeLimit(.minutes(15))) struct BlockingCodeTests {
    /// The user code that blocks.
    enum Place: CaseIterable, Sendable {
        case redirectPolicy, retryPolicyAfterHead, retryPolicyAfterFailure
        case authorise, authoriseLater, recover

        /// The answer of the server.
        var answer: ScriptedAnswer {
            switch self {
            case .redirectPolicy: .respond(status: 302, headers: ["Location": "/elsewhere"])
            case .retryPolicyAfterHead: .respond(status: 503)
            case .retryPolicyAfterFailure: .fail(.connectionReset, sent: .written)
            case .recover: .respond(status: 401)
            case .authorise, .authoriseLater: .respond(status: 200)
            }
        }

        func authorisers(_ blocker: Blocker) -> [any Authoriser] {
            switch self {
            case .authorise: [BlockingAuthoriser(.authorise, blocker)]
            case .authoriseLater: [BlockingAuthoriser(.later, blocker)]
            case .recover: [BlockingAuthoriser(.recover, blocker)]
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

    /// Performs a request on a thread of its own, as an owner does.
    private static func perform(_ loader: DataLoader, _ request: DataLoaderRequest) {
        Thread.detachNewThread { loader.perform(request) }
    }

    /// Loads with one retry through a factory of its own.
    private static func loadWithRetry(_ service: DataLoaderService) async throws -> HTTPStatus? {
        let loader = service.makeFactory(authorisers: [TestAuthoriser()]).makeDataLoader()
        let request = DataLoaderRequest.make("/other", host: "http://other.test") {
            $0.retryPolicy = .immediately(maximumRetries: 1)
        }
        return try await loader.response(for: request).statusCode
    }

    @Test(arguments: Place.allCases)
    func `a load of another factory is retried and times out while user code blocks`(
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
        // A finished attempt keeps no slot while user code decides about it.
        await eventually { bed.service.runtime.admission.load.running == 0 }
        bed.clock.advance(by: .seconds(60))
        let outcome = await bed.outcome()
        guard case .timedOut = outcome?.response?.error?.kind else {
            Issue.record("\(String(describing: outcome))")
            return blocker.release()
        }
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `more blocked factories than processors delay no retry of another factory`()
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
            // The authoriser lets the first attempt through and blocks before the retry.
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

    @Test func `cancelling all loads does not wait for an authoriser that blocks`() async {
        let blocker = Blocker()
        let authoriser = BlockingAuthoriser(.cancel, blocker)
        let bed = TestBed(authorisers: [authoriser])
        let other = bed.service.makeFactory().makeDataLoader()
        bed.loader.perform(.make("/held"))
        await authoriser.holds()
        // Only an answer that is waited for by now is told of its end.
        bed.settle()
        other.perform(.make("/running"))
        let attempt = await bed.attempt(0)
        let hasReturned = LoopbackGate()
        Thread.detachNewThread {
            bed.service.cancelAllLoads()
            hasReturned.open()
        }
        await blocker.blocks()
        await attempt.waitUntilCancelled()
        await hasReturned.opened()
        #expect(!blocker.gaveUp)
        blocker.release()
        bed.expectNothingLeft()
    }

    @Test func `a retry policy that blocks during an outage keeps no slot`()
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
        // The policy wants no retry, so the attempt that was skipped is made.
        _ = await bed.transport.attempts(3)
        while bed.passPause() {}
        #expect(bed.transport.attempts.map(\.request.url.path).contains("/second"))
        bed.expectNothingLeft()
    }

    @Test
    func `chunks that arrive while user code decides arrive in order, and the transfer pauses`()
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
        // An attempt can be paused once its transport has returned.
        bed.settle()
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

    @Test func `a load that is cancelled while its factory is blocked asks no user code`() async {
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
