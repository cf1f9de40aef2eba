// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Attempts in place of those whose connection was stale: counted, paced, and one a load.
@Suite struct ReplacedConnectionTests {
    private static let stale: ScriptedAnswer = .run { attempt in
        var report = TransportReport()
        report.reusedConnection = true
        attempt.setReport(report)
        attempt.fail(.connectionReset, sent: .written)
    }
    private static let refused = ScriptedAnswer.fail(.http2(reason: "refused stream"))

    @Test func `a load without retries has one, which is no retry and costs no token`() {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 0 })
        #expect(bed.error == nil)
        let metrics = bed.ended?.response?.metrics
        #expect(metrics?.attempts == 2)
        #expect(metrics?.retries == 0)
        #expect(metrics?.replacedConnections == 1)
        #expect(bed.transport.attempts.map(\.request.needsFreshConnection) == [false, true])
        #expect(bed.service.runtime.budget.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    @Test func `a budget that was spent in part is left as it is`() throws {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200))
        let origin = try RequestTarget(text: "http://origin.test/").origin
        #expect(bed.service.runtime.budget.withdraw(.transient, for: origin))
        bed.loader.perform(.make { $0.maximumRetryCount = 0 })
        #expect(bed.error == nil)
        #expect(bed.service.runtime.budget.balance(of: origin) == 486)
    }

    @Test func `a load has no second one`() {
        let bed = TestBed([Self.stale], otherwise: Self.stale)
        bed.loader.perform(.make())
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 2)
        #expect(bed.ended?.response?.metrics.replacedConnections == 1)
        bed.expectNothingLeft()
    }

    @Test func `retries come on top of it`() {
        let bed = TestBed([Self.stale], otherwise: Self.stale)
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 2) })
        bed.settle()
        #expect(bed.transport.attempts.count == 4)
        #expect(bed.ended?.response?.metrics.retries == 2)
    }

    @Test func `a request that may not be sent twice has none, nor has a new connection`() {
        for answer in [Self.stale, .fail(.connectionReset, sent: .written)] {
            let bed = TestBed([answer], otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    if case .run = answer { request.method = .post }
                })
            #expect(bed.error == .connectionReset)
            #expect(bed.error?.mayHaveBeenProcessed == true)
            #expect(bed.transport.attempts.count == 1)
            #expect(bed.ended?.response?.metrics.replacedConnections == 0)
        }
    }

    @Test func `it waits for a slot of the rate like any attempt`() {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 2)
        }
        bed.loader.perform(.make { $0.maximumRetryCount = 0 })
        bed.settle()
        #expect(bed.starts.count == 1)
        bed.advance(ms(499))
        #expect(bed.starts.count == 1)
        bed.advance(ms(1))
        #expect(bed.starts.map(\.at) == [.zero, ms(500)])
        #expect(bed.error == nil)
    }

    @Test func `it obeys the deadline`() {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200)) {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: 2)
        }
        bed.loader.perform(.make { $0.timeout = ms(400) })
        bed.settle()
        bed.advance(ms(400))
        #expect(bed.error != nil)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `it does not ask for another body`() {
        let bed = TestBed([
            .run { attempt in
                attempt.takeBody()
                attempt.give(Self.stale)
            }
        ])
        bed.loader.perform(
            .make { request in
                request.method = .put
                request.body = .oneShot(
                    OneShotStream(InputStream(data: Data("once".utf8))), length: nil)
            })
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 1)
        #expect(bed.ended?.response?.metrics.replacedConnections == 0)
    }

    @Test func `what HTTP/2 says was not processed has one, whatever its method`() {
        for retries in [0, 1] {
            let bed = TestBed([Self.refused], otherwise: Self.refused)
            bed.loader.perform(
                .make { request in
                    request.method = .post
                    request.retryPolicy =
                        retries > 0 ? .immediately(maximumRetries: retries) : nil
                })
            bed.settle()
            #expect(bed.transport.attempts.count == 2 + retries)
            #expect(bed.ended?.response?.metrics.replacedConnections == 1)
            #expect(bed.error == .http2(reason: "refused stream"))
        }
    }
}

extension SocketTests {
    /// The same against a server that reads a request and then drops its connection.
    @Suite struct StaleSendTests {
        private func script(_ end: LoopbackStep) -> LoopbackScript {
            .perConnection { number in
                .answers(number == 0 ? [.ok("a"), .steps(end)] : [.ok("b")])
            }
        }

        @Test(arguments: [LoopbackStep.reset, .close], [HTTPMethod.get, .post])
        func `what may be sent twice is sent twice at most, by two attempts`(
            end: LoopbackStep, method: HTTPMethod
        ) async throws {
            let server = try LoopbackServer(script: script(end))
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            _ = try await loader.response(for: DataLoaderRequest(url: server.url("/1")))
            var request = DataLoaderRequest(url: server.url("/2"))
            request.maximumRetryCount = 0
            request.method = method
            if method == .post {
                request.body = .data(Data("pay".utf8))
                request.isIdempotent = true
            }
            let response = try await loader.response(for: request)
            #expect(response.body == Data("b".utf8))
            #expect(response.metrics.attempts == 2)
            #expect(response.metrics.replacedConnections == 1)
            #expect(server.requests.map(\.path) == ["/1", "/2", "/2"])
            #expect(server.connectionCount == 2)
            #expect(service.runtime.budget.busyOrigins == 0)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test(arguments: [LoopbackStep.reset, .close])
        func `a POST is sent once, with retries too`(end: LoopbackStep) async throws {
            let server = try LoopbackServer(script: script(end))
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            _ = try await loader.response(for: DataLoaderRequest(url: server.url("/1")))
            var request = DataLoaderRequest(url: server.url("/2"))
            request.method = .post
            request.body = .data(Data("pay".utf8))
            request.retryPolicy = .immediately(maximumRetries: 3)
            let error = await #expect(throws: DataLoaderError.self) {
                try await loader.response(for: request)
            }
            #expect(error == .connectionReset)
            #expect(error?.mayHaveBeenProcessed == true)
            #expect(server.requests.map(\.path) == ["/1", "/2"])
            #expect(server.connectionCount == 1)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test func `the rate that a server sees holds for them too`() async throws {
            let arrivals = EventRecorder<ContinuousClock.Instant>()
            let server = try LoopbackServer { request in
                arrivals.record(.now)
                return request.isOnReusedConnection ? .steps(.reset) : .ok("a")
            }
            defer { server.stop() }
            let service = DataLoaderService()
            service.rateLimiter.setRequestsPerSecond(10, for: server.url())
            let loader = service.makeFactory().makeDataLoader()
            _ = try await loader.response(for: DataLoaderRequest(url: server.url()))
            let response = try await loader.response(for: DataLoaderRequest(url: server.url()))
            #expect(response.metrics.attempts == 2)
            let times = arrivals.elements
            #expect(times.count == 3)
            // The middle one was read at some time after its slot; the ends are two slots apart.
            #expect(times[2] - times[1] > ms(40))
            #expect(times[2] - times[0] > ms(150))
            await service.shutDown(gracePeriod: .zero)
        }

        // The server has the request, and libcurl finds nobody where it would send it again.
        @Test func `a POST whose server goes away says that it may have been processed`()
            async throws
        {
            let server = try LoopbackServer { request in
                request.method == .post ? .steps(.stall) : .ok("a")
            }
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            _ = try await loader.response(for: DataLoaderRequest(url: server.url()))
            var request = DataLoaderRequest(url: server.url())
            request.method = .post
            request.body = .data(Data("pay".utf8))
            async let response = loader.response(for: request)
            await server.waitForHeads(2)
            server.goDown(resettingConnections: true)
            do {
                _ = try await response
                Issue.record("a response")
            } catch let error as DataLoaderError {
                #expect(error == .connectionReset)
                #expect(error.mayHaveBeenProcessed)
            }
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
