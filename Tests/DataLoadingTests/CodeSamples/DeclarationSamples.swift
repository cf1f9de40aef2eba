// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The samples in doc comments.

@Suite struct DeclarationSamples {
    private struct Catalogue: Decodable, Sendable {
        let title: String
    }

    @Test func `the sample of an exponential timer lengthens its pauses`() {
        var timer = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
        let first = timer.timeIntervalAndCalculateNext()  // 1 s
        let second = timer.timeIntervalAndCalculateNext()  // about 2.7 s
        #expect(first == .seconds(1))
        #expect(second > first)
    }

    @Test func `the sample of a rate limiter sets the rate of a URL`() {
        let searchURL = testURL("https://example.com/search")
        let limiter = RateLimiter(defaultRequestsPerSecond: 10)
        limiter.setRequestsPerSecond(20, forHostOf: searchURL)
        limiter.setRequestsPerSecond(2, burst: 5, forPathOf: searchURL)
        #expect(limiter.requestsPerSecond(for: searchURL) == 2)
    }

    @Test func `the sample of a resolver returns the first address`() {
        let resolver = HostResolver()
        let addresses = ["10.0.0.1", "edge.example.com:8443", "[2001:db8::1]"]
        resolver.setAddresses(addresses, forHost: "example.com")
        #expect(resolver.address(forHost: "example.com") == "10.0.0.1")
    }

    @Test func `the sample of a request option stores a value in the request`() {
        var request = DataLoaderRequest(url: testURL("https://example.com"))
        enum Feature: RequestOption {
            static let defaultValue: String? = nil
        }
        request[option: Feature.self] = "search"
        #expect(request[option: Feature.self] == "search")
        request.fieldsKeptAcrossOrigins = ["X-Request-Id"]
    }

    @Test func `the sample of a consumption logger adds and removes an observer`() {
        let service = DataLoaderService()
        let logger = ConsumptionLogger(format: .json)  // keep it: a service holds observers weakly
        service.addConsumptionObserver(logger, on: DispatchQueue(label: "consumption"))
        service.removeConsumptionObserver(logger)
    }

    @Test func `the sample of a consumption observer is told of every load`() async throws {
        let bed = TestBed([.respond(status: 200)])
        let service = bed.service
        let loader = bed.loader
        let observer = RecordingObserver()
        let queue = DispatchQueue(label: "consumption")
        let request = DataLoaderRequest.make()
        service.addConsumptionObserver(observer, on: queue)
        _ = try await loader.response(for: request)
        loader.perform(request).cancel()
        // Later: two calls, the second one with `response.error == .cancelled`.
        let entries = await observer.entries(2)
        #expect(entries.map(\.response.error) == [nil, .cancelled])
    }

    @Test func `the sample of an authoriser is asked twice when the server answers 401`()
        async throws
    {
        let bed = TestBed([.respond(status: 401), .respond(status: 200)])
        let service = bed.service
        let authoriser = CountingAuthoriser()
        let request = DataLoaderRequest.make()
        let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        let response = try await loader.response(for: request)  // the server answers 401, then 200
        // authorise, recover, authorise: each once, in this order; where recover returns false the last
        // one is missing, and the 401 is delivered
        #expect(response.statusCode == .ok)
        #expect(authoriser.calls.elements == ["authorise", "recover", "authorise"])
    }

    @Test func `the sample of a call decodes JSON`() async {
        let bed = TestBed([.respond(status: 200, body: Data(#"{"title": "A"}"#.utf8))])
        let loader = bed.loader
        let url = testURL("http://origin.test")
        let call = loader.request(url, sourceIdentifier: "catalogue")
        let values = EventRecorder<String?>()
        call.responseDecodable(Catalogue.self) { values.record($0.value?.title) }
        #expect(await values.first(1) == ["A"])
        loader.request(url, sourceIdentifier: "catalogue")
            .modify { $0.headers["Accept"] = "application/json" }
            .validateStatusCode(in: 200..<300)
            .responseDecodable(Catalogue.self) { print($0.value as Any) }
        loader.cancelAllLoads()
    }

    @Test func `the sample of a scripted transport makes no attempts by itself`() {
        let transport = ScriptedTransport([.fail(.connectRefused), .respond(status: 200)])
        #expect(transport.attempts.isEmpty)
    }

    @Test func `the sample of a manual clock ends a sleep`() async throws {
        let clock = ManualClock()
        async let nap: Void = clock.sleep(for: .seconds(60))
        await clock.waitForAlarms(1)
        clock.advance(by: .seconds(60))
        try await nap
    }

    @Test func `the sample of loopback responses builds each kind of response`() {
        let responses: [LoopbackResponse] = [
            .ok("hello"),
            .status(503, headers: ["Retry-After": "1"]),
            .status(200, headers: ["Content-Length": "100"]).followed(by: .bytes("short"), .close),
            .steps(.bytes("HTTP/1.1 20"), .reset),
        ]
        #expect(responses.count == 4)
    }
}

private final class CountingAuthoriser: Authoriser {
    let calls = EventRecorder<String>()

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        calls.record("authorise")
        return .use(request)
    }

    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        calls.record("recover")
        return true
    }
}

/// Loads from the server of a sample.
private func fetch(_ url: URL, with service: DataLoaderService) async throws -> Data? {
    let loader = service.makeFactory().makeDataLoader()
    return try await loader.response(for: DataLoaderRequest(url: url)).body
}

extension SocketTests {
    /// The samples that need a socket.
    @Suite struct DeclarationSocketSamples {
        @Test func `the sample of a loopback server serves a greeting`() async throws {
            let service = DataLoaderService()
            let server = try LoopbackServer { request in .ok("hello") }
            defer { server.stop() }
            async let body = fetch(server.url("/greeting"), with: service)
            await server.waitForRequests(1)
            #expect(server.requests[0].target == "/greeting")
            #expect(try await body == Data("hello".utf8))
            await service.shutDown(gracePeriod: .zero)
        }
    }
}
