// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// What a load asks of its factory's authorisers, and when.
@Suite struct AuthorisationTests {
    @Test func `authorisers are asked in order, each with the request of the one before`() async {
        let first = TestAuthoriser(.add("X-First", "1"), identifier: "first")
        let second = TestAuthoriser(
            .change { $0.headers["X-Second"] = ($0.headers["X-First"] ?? "") + "2" },
            identifier: "second")
        let bed = TestBed(authorisers: [first, second])
        bed.loader.perform(.make())
        let headers = await bed.attempt(0).request.headers
        #expect(headers["X-First"] == "1")
        #expect(headers["X-Second"] == "12")
    }

    @Test func `an authoriser that has nothing to add is skipped`() async {
        let idle = TestAuthoriser(requires: { _ in false })
        let bed = TestBed(
            [.respond(status: 401)], authorisers: [idle, TestAuthoriser(.add("A", "b"))])
        bed.loader.perform(.make())
        let headers = await bed.attempt(1).request.headers
        #expect(headers["A"] == "b")
        #expect(idle.calls.isEmpty)
    }

    @Test func `nothing is sent until the authoriser has answered, however late`() async {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make())
        _ = await authoriser.held(1)
        bed.advance(.seconds(30))
        #expect(bed.transport.attempts.isEmpty)
        #expect(bed.service.runtime.admission.load == (0, 0))
        authoriser.grant(0)
        let attempt = await bed.attempt(0)
        #expect(attempt.request.headers["Authorization"] == "Bearer late")
        attempt.respond(status: 200)
        #expect(bed.ended?.response?.metrics.authorisationTime == .seconds(30))
    }

    @Test func `the error of a refusal names the authoriser and no part of the request`() {
        let bed = TestBed(authorisers: [TestAuthoriser(.refuse, identifier: "oauth")])
        bed.loader.perform(.make("/secret?token=canary"))
        #expect(bed.error == .cannotAuthenticate(reason: "oauth failed: Refusal"))
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    // MARK: Status 401

    @Test
    func `every authoriser that added to a request is told of a 401, then it is sent once more`()
        async
    {
        let idle = TestAuthoriser(requires: { _ in false })
        let first = TestAuthoriser(.add("A", "1"))
        let second = TestAuthoriser(.add("B", "2"))
        let bed = TestBed(
            [.respond(status: 401), .respond(status: 200)], authorisers: [first, idle, second])
        bed.loader.perform(.make("/x"))
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(first.calls == [.authorise("/x"), .failed("/x", 401), .authorise("/x")])
        #expect(second.calls == first.calls)
        #expect(idle.calls.isEmpty)
        #expect(bed.ended?.response?.metrics.attempts == 2)
        #expect(bed.ended?.response?.metrics.retries == 0)
        bed.expectNothingLeft()
    }

    @Test func `a second 401 is delivered`() async {
        let authoriser = TestAuthoriser()
        let bed = TestBed(
            otherwise: .respond(status: 401, body: Data("no".utf8)), authorisers: [authoriser])
        bed.loader.perform(.make())
        _ = await bed.outcome()
        #expect(bed.error == .status(.unauthorised))
        #expect(bed.ended?.response?.body == Data("no".utf8))
        #expect(bed.transport.attempts.count == 2)
        #expect(authoriser.calls.count == 4)
    }

    @Test func `a 401 that no authoriser can recover from is delivered, and authorisers are told`()
        async
    {
        let body = Data("no".utf8)
        let stubborn = TestAuthoriser(.add("A", "1"), recovers: false)
        let bed = TestBed(otherwise: .respond(status: 401, body: body), authorisers: [stubborn])
        bed.loader.perform(.make("/x"))
        _ = await bed.outcome()
        #expect(bed.error == .status(.unauthorised))
        #expect(bed.ended?.response?.body == body)
        #expect(stubborn.calls == [.authorise("/x"), .failed("/x", 401)])
        // One authoriser that can recover is enough.
        let other = TestBed(
            otherwise: .respond(status: 401),
            authorisers: [stubborn, TestAuthoriser(.add("B", "2"))])
        other.loader.perform(.make("/x"))
        _ = await other.outcome()
        #expect(other.transport.attempts.count == 2)
    }

    @Test func `a 401 without authorisers and any 403 are delivered at once`() {
        for (status, authorisers) in [(401, []), (403, [TestAuthoriser()])] {
            let bed = TestBed(otherwise: .respond(status: status), authorisers: authorisers)
            bed.loader.perform(.make())
            #expect(bed.error == .status(HTTPStatus(rawValue: status)))
            #expect(bed.transport.attempts.count == 1)
        }
    }

    @Test func `a POST that was answered 401 is authorised and sent once more`() async {
        let bed = TestBed(
            [.respond(status: 401), .respond(status: 200)], authorisers: [TestAuthoriser()])
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.body = .data(Data("x".utf8))
            })
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.count == 2)
    }

    // An answer that arrives after the load has left the stage does nothing.
    @Test func `an answer to the first question is ignored after the authoriser is asked again`()
        async
    {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [authoriser])
        bed.loader.perform(.make())
        _ = await authoriser.held(1)
        authoriser.grant(0)
        await bed.attempt(0).respond(status: 401)
        _ = await authoriser.held(2)
        authoriser.grant(0, "Authorization", "Bearer stale")
        authoriser.refuse(0)
        bed.settle()
        #expect(bed.transport.attempts.count == 1)
        authoriser.grant(1, "Authorization", "Bearer fresh")
        let second = await bed.attempt(1).request
        #expect(second.headers["Authorization"] == "Bearer fresh")
    }

    // MARK: Each attempt

    @Test func `authorisers are asked for each retry and redirect, with the caller's request`()
        async
    {
        let authoriser = TestAuthoriser(.add("X-Sign", "s"))
        let bed = TestBed(
            [
                .respond(status: 503), .respond(status: 302, headers: ["Location": "/b"]),
                .respond(status: 200),
            ], authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.retryPolicy = .immediately(maximumRetries: 1) })
        _ = await bed.outcome()
        #expect(authoriser.calls == [.authorise("/a"), .authorise("/a"), .authorise("/b")])
        for attempt in bed.transport.attempts {
            #expect(attempt.request.headers.values(for: "X-Sign") == ["s"])
        }
    }

    @Test func `a URL that an authoriser set is not used for the next attempt`() async {
        let isFirst = Locked(true)
        let authoriser = TestAuthoriser(
            .change { $0.url = testURL("http://origin.test/signed?canary") },
            requires: { _ in
                isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
            })
        let bed = TestBed([.respond(status: 503)], authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.retryPolicy = .immediately(maximumRetries: 1) })
        _ = await bed.attempt(1)
        #expect(bed.transport.attempts.map(\.request.url.path) == ["/signed", "/a"])
    }

    // MARK: Bytes

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u{7F}"])
    func `a header value that an authoriser adds is checked for forbidden bytes`(value: String) {
        let bed = TestBed(authorisers: [TestAuthoriser(.add("X-Token", value))])
        bed.loader.perform(.make())
        #expect(bed.error == .invalidRequest(.headerValue(name: "X-Token")))
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `the method, URL and header names that an authoriser sets are checked`() {
        let changes: [(@Sendable (inout DataLoaderRequest) -> Void, RequestFault)] = [
            ({ $0.method = HTTPMethod(rawValue: "GET / HTTP/1.1\r\n") }, .method),
            ({ $0.url = testURL("http://user:pw@origin.test/") }, .userInformation),
            ({ $0.url = testURL("file:///etc/passwd") }, .scheme),
            ({ $0.headers["Content-Length"] = "3" }, .reservedHeader("Content-Length")),
            ({ $0.headers["a b"] = "c" }, .headerName("a b")),
        ]
        for (change, fault) in changes {
            let bed = TestBed(authorisers: [TestAuthoriser(.change(change))])
            bed.loader.perform(.make())
            #expect(bed.error == .invalidRequest(fault))
            #expect(bed.transport.attempts.isEmpty)
        }
    }

    // MARK: Cancelling

    @Test func `the authoriser that holds a cancelled load is told, and the load is never sent`()
        async
    {
        let first = TestAuthoriser()
        let second = TestAuthoriser(.hold)
        let bed = TestBed(authorisers: [first, second])
        let token = bed.loader.perform(.make("/x"))
        _ = await second.held(1)
        // Only an answer that is waited for by now is told of the end.
        bed.settle()
        token.cancel()
        // A task that has the answer already is told of no cancellation.
        #expect(await second.calls(2) == [.authorise("/x"), .cancel("/x")])
        second.grant(0)
        #expect(bed.error == .cancelled)
        #expect(first.calls == [.authorise("/x")])
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `authorisers are not told of a 401 to a load that has already ended`() async {
        let authoriser = TestAuthoriser()
        let bed = TestBed(authorisers: [authoriser])
        let token = bed.loader.perform(.make("/x"))
        let attempt = await bed.attempt(0)
        bed.settle()
        bed.factory.context.queue.suspend()
        attempt.respond(status: 401)
        token.cancel()
        bed.factory.context.queue.resume()
        #expect(bed.error == .cancelled)
        #expect(authoriser.calls == [.authorise("/x")])
        bed.expectNothingLeft()
    }

    @Test func `an authoriser may cancel the load when it is called`() {
        let loader = Locked<DataLoader?>(nil)
        let authoriser = TestAuthoriser(
            .add("A", "b"), onCall: { _ in loader.withLock { $0 }?.cancelAllLoads() })
        let bed = TestBed(authorisers: [authoriser])
        loader.withLock { $0 = bed.loader }
        bed.loader.perform(.make())
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        loader.withLock { $0 = nil }
        bed.expectNothingLeft()
    }

    // A loader uses only the authorisers of its own factory.
    @Test func `a loader uses only the authorisers of its own factory`() async {
        let authoriser = TestAuthoriser()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        let other = bed.service.makeFactory().makeDataLoader()
        _ = try? await other.response(for: .make())
        #expect(authoriser.calls.isEmpty)
        #expect(bed.transport.attempts[0].request.headers["Authorization"] == nil)
    }
}
