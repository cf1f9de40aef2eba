// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The loads inside intercepted ones.
@Suite struct InsideLoadTests {
    @Test func `the loads inside are authorised, redirected and retried as any other`()
        async throws
    {
        let passOn = PassOn()
        let bearer = TestAuthoriser(.add("Authorization", "Bearer b"), method: .bearer)
        let basic = TestAuthoriser(.add("Authorization", "Basic a"), method: .basic)
        let bed = TestBed(
            [
                .respond(status: 302, headers: ["Location": "/second"]), .respond(status: 401),
                .fail(.connectRefused), .respond(status: 200),
            ], authorisers: [basic, bearer], interceptors: [passOn])
        async let loaded = bed.loader.response(
            for: .make("/first") {
                $0.authenticationMethods = [.bearer]
                $0.retryPolicy = .immediately(maximumRetries: 1)
            })
        let response = try await loaded
        #expect(response.error == nil)
        #expect(response.resolvedURL?.path == "/second")
        let sent = bed.transport.attempts.map(\.request)
        #expect(sent.map(\.url.path) == ["/first", "/second", "/second", "/second"])
        #expect(sent.allSatisfy { $0.headers["Authorization"] == "Bearer b" })
        #expect(basic.calls.isEmpty)
        #expect(passOn.requests.elements.map(\.headers["Authorization"]) == [nil])
        #expect(response.metrics.redirects == 1)
        #expect(response.metrics.retries == 1)
        bed.expectNothingLeft()
    }

    @Test func `a stored response passes the interceptors, and is counted as one`() async throws {
        let passOn = PassOn()
        let bed = TestBed(
            otherwise: .respond(status: 200, headers: ["Cache-Control": "max-age=60"]),
            interceptors: [passOn]
        ) { $0.cache = .memory() }
        #expect(try await bed.loader.response(for: .make()).metrics.source == .network)
        let second = try await bed.loader.response(for: .make())
        #expect(second.metrics.source == .cache)
        #expect(second.metrics.bytesDownloaded == 0)
        #expect(bed.transport.attempts.count == 1)
        #expect(passOn.requests.elements.count == 2)
    }

    @Test func `intercepted loads share one request, as others do`() async {
        let bed = TestBed(interceptors: [PassOn()])
        for _ in 0..<3 { bed.loader.perform(.make { $0.coalescing = .sameRequest }) }
        let attempt = await bed.attempt(0)
        bed.settle()
        attempt.respond(status: 200)
        let sources = await bed.delegate.outcomes(3).map { $0.response?.metrics.source }
        #expect(sources.filter { $0 == .network }.count == 1)
        #expect(sources.filter { $0 == .coalesced }.count == 2)
        #expect(bed.transport.attempts.count == 1)
        bed.expectNothingLeft()
    }

    @Test func `the owner sees one load, and is asked about that one`() async throws {
        let bed = TestBed(
            [
                .run { attempt in
                    attempt.takeBody()
                    attempt.give(.respond(status: 307, headers: ["Location": "/again"]))
                }
            ],
            interceptors: [
                Intercept { request, next in
                    var copy = DataLoaderRequest(url: request.url)
                    copy.method = request.method
                    copy.body = request.body
                    return try await next(copy)
                }
            ], delegate: RecordingDelegate(bodyStream: { InputStream(data: Data("b".utf8)) }))
        let request = DataLoaderRequest.make {
            $0.method = .put
            $0.body = .oneShot(OneShotStream(InputStream(data: Data("a".utf8))), length: 1)
        }
        bed.loader.perform(request)
        let second = await bed.attempt(1)
        #expect(second.takeBody() == Data("b".utf8))
        #expect(bed.loader.currentRequests.map(\.uniqueIdentifier) == [request.uniqueIdentifier])
        second.respond(status: 200)
        let event = await bed.outcome()
        #expect(event?.response?.error == nil)
        #expect(event?.requestIdentifier == request.uniqueIdentifier)
        bed.expectNothingLeft()
    }

    @Test func `progress is reported once, by the load inside`() async throws {
        let heard = EventRecorder<BodyProgress>()
        let bed = TestBed(interceptors: [PassOn()])
        bed.loader.perform(.make { $0.downloadProgress = { heard.record($0) } })
        let attempt = await bed.attempt(0)
        attempt.respond(status: 200, headers: ["Content-Length": "4"], body: Data("body".utf8))
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(heard.elements.map(\.completed).last == 4)
        #expect(Set(heard.elements.map(\.completed)).count == heard.elements.count)
        bed.expectNothingLeft()
    }

    @Test func `a load without interceptors goes the shorter way`() async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        #expect(bed.factory.context.interceptors == nil)
        let response = try await bed.loader.response(for: .make())
        // With an interceptor there would be a load inside, with the next number.
        let next = try await bed.loader.response(for: .make())
        #expect(response.metrics.load < next.metrics.load)
        #expect(bed.loader.registry.added == 2)
    }
}
