// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in the articles about rates, retries and tests.

struct UntilDone: RetryPolicy {
    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        outcome.status?.rawValue == 202 && n < 10 ? .seconds(1) : nil
    }
}

@Suite struct PolicySamples {
    private let feed = testURL("http://feed.test/latest")

    @Test func `the sample of rates and addresses configures a service`() {
        let service = DataLoaderService()
        let base = testURL("https://api.example.com")
        service.rateLimiter.setRequestsPerSecond(20, forHostOf: base)
        service.rateLimiter.setRequestsPerSecond(
            2, burst: 5, forPathOf: base.appending(path: "search"))
        #expect(service.rateLimiter.requestsPerSecond(for: base.appending(path: "a")) == 20)
        #expect(service.rateLimiter.requestsPerSecond(for: base.appending(path: "search/b")) == 2)
        service.resolver.setAddresses(["192.0.2.1", "192.0.2.2:8443"], forHost: "api.example.com")
        #expect(service.resolver.address(forHost: "api.example.com") == "192.0.2.1")
    }

    @Test func `the sample of built-in retry policies sets each of them`() {
        var request = DataLoaderRequest(url: feed)
        request.maximumRetryCount = 3
        request.retryPolicy = .immediately(maximumRetries: 1)
        request.retryPolicy = .constant(.seconds(5), maximumRetries: 3)
        request.retryPolicy = .exponential(maximumRetries: 5)
        request.retryPolicy = .rateLimitHeader(maximumRetries: 2)
        #expect(request.retryPolicy is BuiltInRetryPolicy)
    }

    @Test func `the sample of a polling retry policy asks again until a job is done`() async throws
    {
        let bed = TestBed([.respond(status: 202), .respond(status: 202), .respond(status: 200)])
        async let response = bed.loader.response(for: .make { $0.retryPolicy = UntilDone() })
        for _ in 0..<2 {
            await bed.clock.waitForAlarms(1, within: .seconds(1))
            bed.clock.advance(by: .seconds(1))
        }
        #expect(try await response.statusCode == .ok)
    }

    @Test func `a load times out at its deadline`() async throws {
        let clock = ManualClock()
        var configuration = DataLoaderService.Configuration()
        configuration.transport = ScriptedTransport()
        let service = DataLoaderService(configuration: configuration, clock: clock)
        let delegate = RecordingDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate)
        var request = DataLoaderRequest(url: feed)
        request.timeout = .seconds(20)
        loader.perform(request)
        clock.advance(by: .seconds(20))
        let response = await delegate.outcomes(1).first?.response
        #expect(response?.error?.name == "timed_out")
    }

    @Test func `the sample of a broken connection fails a load in the middle of its body`()
        async throws
    {
        var configuration = DataLoaderService.Configuration()
        let transport = ScriptedTransport()
        configuration.transport = transport
        let service = DataLoaderService(configuration: configuration)
        let delegate = RecordingDelegate()
        let loader = service.makeFactory().makeDataLoader(delegate: delegate)
        loader.perform(DataLoaderRequest(url: feed))
        let attempt = await transport.attempts(1)[0]
        attempt.sendHead(status: 200)
        attempt.send(Data("half".utf8))
        attempt.fail(.connectionReset, sent: .headReceived)
        let response = await delegate.outcomes(1).first?.response
        #expect(response?.error?.kind == .connectionReset)
    }
}

extension SocketTests {
    /// The samples that need a socket.
    @Suite struct PolicySocketSamples {
        @Test func `the sample of an immediate retry loads from a real socket`() async throws {
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            let server = try LoopbackServer(
                handler: .sequence([.status(503, headers: ["Retry-After": "0"]), .ok("hello")]))
            defer { server.stop() }
            var request = DataLoaderRequest(url: server.url("/greeting"))
            request.retryPolicy = .immediately(maximumRetries: 1)
            let response = try await loader.response(for: request)
            #expect(response.body == Data("hello".utf8))
            #expect(server.requests.map(\.target) == ["/greeting", "/greeting"])
            await service.shutDown(gracePeriod: .seconds(5))
        }

        @Test func `the sample of server faults fails loads on a real socket`() async throws {
            let answers: [LoopbackResponse] = [
                .steps(.bytes("HTTP/1.1 20"), .reset),
                .truncated("five.", declaring: 100),
                .ok("late").preceded(by: .pause(.seconds(2))),
            ]
            let server = try LoopbackServer(handler: .sequence(answers))
            defer { server.stop() }
            let service = DataLoaderService()
            let loader = service.makeFactory().makeDataLoader()
            let request = DataLoaderRequest(url: server.url())
            for _ in 0..<2 {
                await #expect(throws: DataLoaderError.self) {
                    try await loader.response(for: request)
                }
            }
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
