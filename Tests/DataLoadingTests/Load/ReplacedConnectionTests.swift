// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading

import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// Attempts that replace those on a stale connection: counted, rate limited and one for each load.
@Suite struct ReplacedConnectionTests {
    private static let stale: ScriptedAnswer = .run { attempt in
        var report = TransportReport()
        report.reusedConnection = true
        attempt.setReport(report)
        attempt.fail(.connectionReset, sent: .written)
    }
    private static let refused = ScriptedAnswer.fail(.http2(reason: "refused stream"))

    @Test func `a stale connection is replaced without a retry and without cost to the budget`() {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200))
        bed.loader.perform(.make { $0.maximumRetryCount = 0 })
        #expect(bed.error == nil)
        let metrics = bed.ended?.response?.metrics
        #expect(metrics?.attempts == 2)
        #expect(metrics?.retries == 0)
        #expect(metrics?.replacedConnections == 1)
        #expect(bed.transport.attempts.map(\.request.needsFreshConnection) == [false, true])
        #expect(bed.service.runtime.originHealth.busyOrigins == 0)
        bed.expectNothingLeft()
    }

    @Test func `a replaced connection leaves a partly spent budget unchanged`() throws {
        let bed = TestBed([Self.stale], otherwise: .respond(status: 200))
        let origin = try RequestTarget(text: "http://origin.test/").origin
        #expect(bed.service.runtime.originHealth.withdraw(.transient, for: origin))
        bed.loader.perform(.make { $0.maximumRetryCount = 0 })
        #expect(bed.error == nil)
        #expect(bed.service.runtime.originHealth.balance(of: origin) == 486)
    }

    @Test func `a load replaces a stale connection only once`() {
        let bed = TestBed([Self.stale], otherwise: Self.stale)
        bed.loader.perform(.make())
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 2)
        #expect(bed.ended?.response?.metrics.replacedConnections == 1)
        bed.expectNothingLeft()
    }

    @Test func `retries are allowed in addition to a replaced connection`() {
        let bed = TestBed([Self.stale], otherwise: Self.stale)
        bed.loader.perform(.make { $0.retryPolicy = .immediately(maximumRetries: 2) })
        bed.settle()
        #expect(bed.transport.attempts.count == 4)
        #expect(bed.ended?.response?.metrics.retries == 2)
    }

    @Test func `a connection is replaced only if it was reused and the request may be sent twice`()
    {
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

    @Test func `an attempt on a replaced connection waits for the rate`() {
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

    @Test func `an attempt on a replaced connection respects the deadline`() {
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

    @Test func `a connection is not replaced when the request needs another body stream`() {
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

    @Test func `a request that HTTP/2 did not process is repeated once, whatever its method`() {
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
    /// The same with a server that reads a request and then drops its connection.
    @Suite struct StaleSendTests {
        private func script(_ end: LoopbackStep) -> LoopbackScript {
            .perConnection { number in
                .answers(number == 0 ? [.ok("a"), .steps(end)] : [.ok("b")])
            }
        }

        @Test(arguments: [LoopbackStep.reset, .close], [HTTPMethod.get, .post])
        func `a repeatable request on a stale connection is sent twice at most, in two attempts`(
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
            #expect(service.runtime.originHealth.busyOrigins == 0)
            await service.shutDown(gracePeriod: .zero)
        }

        @Test(arguments: [LoopbackStep.reset, .close])
        func `a POST on a stale connection is sent once, even with retries`(end: LoopbackStep)
            async throws
        {
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

        @Test func `attempts on replaced connections keep to the rate that the server sees`()
            async throws
        {
            let isKept = try await unhurried { pace in
                let arrivals = EventRecorder<ContinuousClock.Instant>()
                let server = try LoopbackServer { request in
                    arrivals.record(.now)
                    return request.isOnReusedConnection ? .steps(.reset) : .ok("a")
                }
                defer { server.stop() }
                let service = DataLoaderService()
                service.rateLimiter.setRequestsPerSecond(10 / Double(pace), forHostOf: server.url())
                let loader = service.makeFactory().makeDataLoader()
                _ = try await loader.response(for: DataLoaderRequest(url: server.url()))
                let response = try await loader.response(for: DataLoaderRequest(url: server.url()))
                #expect(response.metrics.attempts == 2)
                let times = arrivals.elements
                await service.shutDown(gracePeriod: .zero)
                try #require(times.count == 3)
                // The requests are read some time after their slots, which are two slots apart for
                // the first and the last one.
                return times[2] - times[1] > ms(40) * pace && times[2] - times[0] > ms(150) * pace
            }
            #expect(isKept)
        }

        // The server has the request, and libcurl's repetition cannot connect.
        @Test func `a POST whose server goes away reports that it may have been processed`()
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
