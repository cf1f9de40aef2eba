// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a transport learns of the load that makes an attempt.
@Suite struct AttemptContextTests {
    private func contexts(_ bed: TestBed) -> [AttemptContext] {
        bed.transport.attempts.map(\.request.context)
    }

    @Test func `attempts have the number of their load, and count on`() async throws {
        let bed = TestBed(
            [
                .respond(status: 302, headers: ["Location": "/b"]), .fail(.connectionReset),
                .respond(status: 200),
            ]
        ) { $0.retry.maximumRetryCount = 1 }
        var request = DataLoaderRequest.make("/a")
        request.sourceIdentifier = "feed"
        bed.loader.perform(request)
        bed.settle()
        bed.passPause()
        let response = try #require(await bed.outcome()?.response)
        #expect(contexts(bed).map(\.load) == Array(repeating: response.metrics.load, count: 3))
        #expect(contexts(bed).map(\.resendCount) == [0, 1, 2])
        #expect(contexts(bed).map(\.cause) == [nil, .redirect, .retry])
        #expect(contexts(bed).allSatisfy { $0.sourceIdentifier == "feed" && !$0.isInternal })
        bed.loader.perform(DataLoaderRequest(url: testURL("http://origin.test/c")))
        bed.settle()
        let next = try #require(contexts(bed).last)
        #expect(next.load > response.metrics.load)
        #expect(next.resendCount == 0 && next.cause == nil && next.sourceIdentifier == nil)
    }

    @Test func `further addresses of an attempt count, unlike in the metrics`() async throws {
        let bed = TestBed([.fail(.connectRefused), .fail(.connectRefused), .respond(status: 200)])
        bed.service.resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "origin.test")
        bed.loader.perform(.make("/a"))
        let response = try #require(await bed.outcome()?.response)
        #expect(response.metrics.attempts == 1)
        #expect(contexts(bed).map(\.resendCount) == [0, 1, 2])
        #expect(contexts(bed).map(\.cause) == [nil, .nextAddress, .nextAddress])
    }

    @Test func `a 401 is a cause, and what an authoriser loads for itself is internal`()
        async throws
    {
        let bed = TestBed([.respond(status: 401), .respond(status: 200)])
        let tokens = bed.service.makeFactoryBelowAuthorisers().makeDataLoader()
        tokens.perform(.make("/token"))
        bed.settle()
        #expect(contexts(bed).map(\.isInternal) == [true])
        let renewing = TestBed(
            [.respond(status: 401), .respond(status: 200)],
            authorisers: [RenewingAuthoriser()])
        renewing.loader.perform(.make("/a"))
        _ = await renewing.outcome()
        #expect(contexts(renewing).map(\.cause) == [nil, .reauthorisation])
    }

    @Test func `a stale connection and a broken body are causes`() async {
        var report = TransportReport()
        report.reusedConnection = true
        let stale = report
        let bed = TestBed([
            .run { attempt in
                attempt.setReport(stale)
                attempt.fail(.noResponse, sent: .written)
            },
            .respond(status: 200),
        ])
        bed.loader.perform(.make("/a"))
        _ = await bed.outcome()
        #expect(contexts(bed).map(\.cause) == [nil, .replacement])
        let head: HTTPHeaders = ["ETag": "\"a\"", "Accept-Ranges": "bytes", "Content-Length": "10"]
        let broken = TestBed([
            .run { attempt in
                attempt.sendHead(status: 200, headers: head)
                attempt.send(patternBytes(5))
                attempt.fail(.truncatedBody, sent: .headReceived)
            }
        ]) { $0.retry.maximumRetryCount = 1 }
        broken.loader.perform(.make("/a"))
        broken.settle()
        broken.passPause()
        #expect(contexts(broken).map(\.cause) == [nil, .resumption])
    }

    @Test func `a transport reads the options of the request`() async {
        let bed = TestBed([.respond(status: 302, headers: ["Location": "http://other.test/"])])
        var request = DataLoaderRequest.make("/users/7")
        request[option: URLTemplate.self] = "/users/{id}"
        bed.loader.perform(request)
        bed.settle()
        let templates = bed.transport.attempts.map { $0.request[option: URLTemplate.self] }
        // The other origin's path may repeat what the pattern hides.
        #expect(templates == ["/users/{id}", "/users/{id}"])
    }
}

extension SocketTests {
    /// The transport of the system inside one of the program.
    @Suite struct WrappedTransportTests {
        @Test func `the default transport can be wrapped`() async throws {
            let server = try LoopbackServer { _ in .ok("fine") }
            var configuration = DataLoaderService.Configuration()
            let spy = CountingTransport(configuration.makeDefaultTransport())
            configuration.transport = spy
            let service = DataLoaderService(configuration: configuration)
            let loader = service.makeFactory().makeDataLoader()
            let response = try await loader.response(for: DataLoaderRequest(url: server.url()))
            #expect(response.body == Data("fine".utf8))
            #expect(spy.loads.elements == [response.metrics.load])
            await service.shutDown(gracePeriod: .zero)
        }
    }
}

/// Answers a 401 with another try.
private final class RenewingAuthoriser: Authoriser {
    let identifier = "renewing"

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        var request = request
        request.headers["X-Token"] = "t"
        return .use(request)
    }

    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool { true }
}
