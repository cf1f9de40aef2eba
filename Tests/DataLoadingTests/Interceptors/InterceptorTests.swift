// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What interceptors may do with a load.
@Suite struct InterceptorTests {
    private struct Refusal: Error {}

    @Test func `interceptors are called in order, and each sees what the one before changed`()
        async throws
    {
        func mark(_ name: String) -> Intercept {
            Intercept { request, next in
                var request = request
                request.headers["X-Way"] = (request.headers["X-Way"] ?? "") + name
                var response = try await next(request)
                response.headers["X-Back"] = (response.headers["X-Back"] ?? "") + name
                return response
            }
        }
        let bed = TestBed(
            otherwise: .respond(status: 200, body: Data("body".utf8)),
            interceptors: [mark("a"), mark("b"), mark("c")])
        let request = DataLoaderRequest.make()
        let response = try await bed.loader.response(for: request)
        #expect(bed.transport.attempts.map(\.request.headers["X-Way"]) == ["abc"])
        #expect(response.headers["X-Back"] == "cba")
        #expect(response.body == Data("body".utf8))
        #expect(response.request.headers["X-Way"] == nil)
        #expect(response.request.uniqueIdentifier == request.uniqueIdentifier)
        bed.expectNothingLeft()
    }

    @Test func `an interceptor that answers by itself sends nothing`() async throws {
        let bed = TestBed(
            interceptors: [Intercept { request, _ in .made(for: request, body: Data("own".utf8)) }])
        bed.loader.perform(.make("/a"))
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(response.body == Data("own".utf8))
        #expect(response.headers["X-Made"] == "1")
        #expect(response.resolvedURL == testURL("http://origin.test/a"))
        #expect(response.metrics.source == .interceptor)
        #expect(response.metrics.attempts == 0)
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.bytesDownloaded == 0)
        #expect(entry.bytesUploaded == 0)
        #expect(entry.response.metrics.load == response.metrics.load)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test(arguments: [199, 301, 304, 404, 500])
    func `the status of an interceptor's own answer decides, as for any other`(
        status: Int
    ) async throws {
        let bed = TestBed(
            interceptors: [Intercept { request, _ in .made(for: request, status: status) }])
        bed.loader.perform(.make())
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == .status(HTTPStatus(rawValue: status)))
        #expect(response.error?.context?.load == response.metrics.load)
        #expect(response.body == Data())
        // It is a whole response all the same.
        let whole = try await bed.loader.response(for: .make())
        #expect(whole.statusCode?.rawValue == status)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a changed status decides in place of the one that the server sent`() async throws {
        let bed = TestBed(
            otherwise: .respond(status: 404),
            interceptors: [
                Intercept { request, next in
                    var response = try await next(request)
                    response.statusCode = .ok
                    return response
                }
            ])
        let response = try await bed.loader.response(for: .make())
        #expect(response.error == nil)
        #expect(response.statusCode == .ok)
    }

    @Test func `an interceptor may load several times, and its load ends once`() async throws {
        let bed = TestBed(
            [.respond(status: 503), .respond(status: 200, body: Data("ok".utf8))],
            interceptors: [
                Intercept { request, next in
                    let first = try await next(request)
                    return first.error == nil ? first : try await next(request)
                }
            ])
        let token = bed.loader.perform(.make())
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(response.metrics.attempts == 2)
        #expect(response.metrics.source == .network)
        #expect(response.metrics.load == token.loadNumber)
        let entries = await bed.observer.entries(1)
        bed.expectNothingLeft()
        #expect(bed.delegate.events.count == 1)
        #expect(bed.observer.entries.count == 1)
        #expect(entries[0].response.metrics == response.metrics)
        #expect(entries[0].bytesDownloaded == 2)
    }

    @Test func `an interceptor may answer from another host when the first one fails`()
        async throws
    {
        let bed = TestBed(
            [.fail(.connectRefused), .respond(status: 200)],
            interceptors: [
                Intercept { request, next in
                    do { return try await next(request) } catch DataLoaderError.connectRefused {
                        var other = request
                        other.url = testURL("http://other.test/spare")
                        return try await next(other)
                    }
                }
            ])
        let response = try await bed.loader.response(for: .make("/a"))
        #expect(response.resolvedURL == testURL("http://other.test/spare"))
        #expect(response.request.url == testURL("http://origin.test/a"))
        #expect(response.metrics.attempts == 2)
        bed.expectNothingLeft()
    }

    @Test func `an interceptor may load at the same time, and the first response wins`()
        async throws
    {
        let bed = TestBed(interceptors: [
            Intercept { request, next in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<2 { group.addTask { try await next(request) } }
                    defer { group.cancelAll() }
                    guard let first = try await group.next() else { throw Refusal() }
                    return first
                }
            }
        ])
        bed.loader.perform(.make())
        let (slow, fast) = (await bed.attempt(0), await bed.attempt(1))
        fast.respond(status: 200, body: Data("fast".utf8))
        let response = try #require(await bed.outcome()?.response)
        #expect(response.body == Data("fast".utf8))
        await slow.waitUntilCancelled()
        let entry = await bed.observer.entries(1)[0]
        #expect(entry.response.metrics.attempts == 2)
        bed.expectNothingLeft()
    }

    @Test func `every way to load a whole response goes through the interceptors`() async throws {
        let bed = TestBed(
            interceptors: [Intercept { request, _ in .made(for: request, body: Data("7".utf8)) }])
        bed.loader.perform(.make())
        #expect(await bed.outcome()?.response?.body == Data("7".utf8))
        #expect(try await bed.loader.response(for: .make()).body == Data("7".utf8))
        let outcomes = bed.loader.outcomes.makeAsyncIterator()
        let token = bed.loader.perform(.make())
        let outcome = await outcomes.next()
        #expect(outcome?.token === token)
        #expect(outcome?.response.metrics.load == token.loadNumber)
        let call = bed.loader.request(testURL("http://origin.test/"), sourceIdentifier: nil)
        #expect(try await call.validateStatusCode().responseDecodable(Int.self) == 7)
        #expect(try await bed.loader.value(for: Request<Int>(.make())) == 7)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a validator refuses an interceptor's answer as any other`() async throws {
        let bed = TestBed(
            interceptors: [Intercept { request, _ in .made(for: request, status: 404) }])
        let call = bed.loader.request(testURL("http://origin.test/"), sourceIdentifier: nil)
        await #expect(throws: DataLoaderError.status(.notFound)) {
            try await call.validateStatusCode().responseData()
        }
    }

    @Test func `what an interceptor throws is the error of its load`() async throws {
        let refusal = TestBed(interceptors: [Intercept { _, _ in throw Refusal() }])
        refusal.loader.perform(.make())
        let error = try #require(await refusal.outcome()?.response?.error)
        #expect(error.kind == .interceptor(reason: "Refusal"))
        #expect(error.underlyingError is Refusal)
        #expect(error.context?.method == "GET")

        let own = TestBed(interceptors: [
            Intercept { _, _ in
                throw DataLoaderError(.unsupported(reason: "mondays"), underlyingError: Refusal())
            }
        ])
        own.loader.perform(.make())
        let same = try #require(await own.outcome()?.response?.error)
        #expect(same.kind == .unsupported(reason: "mondays"))
        #expect(same.underlyingError is Refusal)

        let cancelled = TestBed(interceptors: [Intercept { _, _ in throw CancellationError() }])
        let token = cancelled.loader.perform(.make())
        guard case .cancelled = await cancelled.outcome() else {
            Issue.record("The delegate was not told of a cancellation.")
            return
        }
        #expect(token.isCancelled)
    }

    @Test func `an answer without a status, or with an error, is a failure`() async throws {
        let bed = TestBed(interceptors: [
            Intercept { request, _ in
                let error = request.url.path == "/b" ? DataLoaderError.dns : nil
                return DataLoaderResponse(request: request, error: error)
            }
        ])
        bed.loader.perform(.make("/a"))
        bed.loader.perform(.make("/b"))
        let errors = await bed.delegate.outcomes(2).map { $0.response?.error?.kind }
        #expect(errors.contains(.interceptor(reason: "a response without a status")))
        #expect(errors.contains(.dns))
        bed.expectNothingLeft()
    }

    @Test func `an interceptor may complete a request that could not be sent as it is`()
        async throws
    {
        let bed = TestBed(
            otherwise: .respond(status: 200),
            interceptors: [
                Intercept { request, next in
                    var whole = request
                    whole.url = testURL("http://origin.test" + request.url.path)
                    return try await next(whole)
                }
            ])
        let response = try await bed.loader.response(for: DataLoaderRequest(url: testURL("/a")))
        #expect(response.resolvedURL == testURL("http://origin.test/a"))
        let plain = TestBed(interceptors: [PassOn()])
        await #expect(throws: DataLoaderError.invalidRequest(.scheme)) {
            try await plain.loader.response(for: DataLoaderRequest(url: testURL("/a")))
        }
    }

    @Test func `a load in chunks is refused where there are interceptors`() async throws {
        let passOn = PassOn()
        let bed = TestBed(otherwise: .respond(status: 200), interceptors: [passOn])
        bed.loader.perform(.make { $0.chunks = true })
        #expect(await bed.outcome()?.response?.error == .chunksNotSupported)
        await #expect(throws: DataLoaderError.chunksNotSupported) {
            for try await _ in bed.loader.chunks(for: .make()) {}
        }
        #expect(passOn.requests.elements.isEmpty)
        #expect(bed.transport.attempts.isEmpty)
        // Where the whole response is asked for, `chunks` is ignored.
        _ = try await bed.loader.response(for: .make { $0.chunks = true })
        #expect(passOn.requests.elements.count == 1)
        bed.expectNothingLeft()
    }
}
