// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What a redirect to another origin keeps of a request, and where it may lead.
// Secrets, custom fields and redirects from https to http.
@Suite struct RedirectOriginTests {
    private static func moved(_ location: String, _ status: Int = 307) -> ScriptedAnswer {
        .respond(status: status, headers: ["Location": location])
    }

    /// Sends a request with these fields through one redirect and returns the fields of the second.
    private static func fields(
        _ fields: HTTPHeaders, over location: String = "http://other.test/",
        naming names: [String] = []
    ) async -> HTTPHeaders {
        let bed = TestBed([moved(location)])
        bed.loader.perform(
            .make { request in
                request.headers = fields
                request.fieldsKeptAcrossOrigins = names
            })
        return await bed.attempt(1).request.headers
    }

    @Test(arguments: [
        "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "Range",
        "If-Modified-Since", "Cache-Control", "PRAGMA", "Prefer",
    ])
    func `a redirect to another origin keeps generic header fields`(name: String) async {
        #expect(await Self.fields([name: "x"]) == [name: "x"])
    }

    @Test(arguments: [
        "Authorization", "Cookie", "Proxy-Authorization", "Origin", "Referer", "X-Api-Key",
        "x-auth-token", "PRIVATE-TOKEN", "X-Amz-Security-Token", "Idempotency-Key", "baggage",
        "From", "Forwarded", "X-Anything", "Authentication", "Sec-WebSocket-Key", "Accept-Secret",
        "If-None-Match", "traceparent", "Tracestate",
    ])
    func `a redirect to another origin drops fields that may belong to the first origin`(
        name: String
    ) async {
        #expect(await Self.fields([name: "x", "Accept": "y"]) == ["Accept": "y"])
        #expect(await Self.fields([name: "x"], over: "/b") == [name: "x"])
    }

    // Without its validator the range may be of another representation (RFC 9110 section 13.1.5).
    @Test func `a redirect to another origin drops a Range with its If-Range`() async {
        let fields: HTTPHeaders = ["Range": "bytes=5-", "If-Range": "\"v\"", "Accept": "y"]
        #expect(await Self.fields(fields) == ["Accept": "y"])
        #expect(await Self.fields(fields, over: "/b") == fields)
        #expect(await Self.fields(fields, naming: ["If-Range"]) == fields)
    }

    // Without its condition the request could change what it must not change.
    @Test func `a redirect that would drop If-Match is delivered and not followed`() async {
        for (names, attempts) in [([], 1), (["if-match"], 2)] {
            let bed = TestBed(
                [Self.moved("http://other.test/")], otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    request.method = .delete
                    request.headers["If-Match"] = "\"v\""
                    request.fieldsKeptAcrossOrigins = names
                })
            _ = await bed.outcome()
            #expect(bed.transport.attempts.count == attempts)
            #expect(
                bed.error == (attempts == 1 ? .status(HTTPStatus(rawValue: 307)) : nil))
        }
    }

    @Test(arguments: [307, 308])
    func `a redirect that would send a body to another origin is delivered and not followed`(
        status: Int
    ) async {
        for location in ["http://other.test/", "http://origin.test:8080/"] {
            let bed = TestBed(
                [Self.moved(location, status)], otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    request.method = .post
                    request.body = .data(Data("password".utf8))
                })
            _ = await bed.outcome()
            #expect(bed.error == .status(HTTPStatus(rawValue: status)))
            #expect(bed.transport.attempts.count == 1)
        }
    }

    @Test func `a redirect keeps fields that the request names, in any case, but no credentials`()
        async
    {
        let fields: HTTPHeaders = [
            "X-Request-Id": "1", "x-request-ID": "2", "X-Other": "3", "Authorization": "4",
            "Cookie": "5",
        ]
        let kept = await Self.fields(
            fields, naming: ["X-REQUEST-ID", "authorization", "Cookie", "Referer"])
        #expect(kept == ["X-Request-Id": "1", "x-request-ID": "2"])
    }

    @Test func `a redirect back to the first origin does not restore dropped fields`() async {
        let bed = TestBed(["http://other.test/", "http://origin.test/b"].map { Self.moved($0) })
        bed.loader.perform(.make("/a") { $0.headers = ["X-Api-Key": "x", "Accept": "y"] })
        let third = await bed.attempt(2).request
        #expect(third.url.absoluteString == "http://origin.test/b")
        #expect(third.headers == ["Accept": "y"])
    }

    @Test func `a redirect asks the authorisers again, without the fields they added before`() async
    {
        let authoriser = TestAuthoriser(.hold)
        let bed = TestBed(
            ["http://other.test/b", "/c"].map { Self.moved($0) }, authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.headers["X-Signed"] = "caller" })
        for (index, url) in [
            "http://origin.test/a", "http://other.test/b", "http://other.test/c",
        ].enumerated() {
            let held = await authoriser.held(index + 1)[index].request
            #expect(held.url.absoluteString == url)
            #expect(held.headers == (index == 0 ? ["X-Signed": "caller"] : [:]))
            authoriser.grant(index, "X-Signed", "for \(url)")
            let sent = await bed.attempt(index).request.headers
            #expect(sent == ["X-Signed": "for \(url)"])
        }
    }

    @Test func `a redirect from an authoriser's mirror drops the caller's fields`() async {
        let authoriser = TestAuthoriser(
            .change { $0.url = testURL("http://mirror.test" + $0.url.path) },
            requires: { $0.url.host() == "origin.test" })
        let bed = TestBed([Self.moved("/b")], authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.headers["X-Api-Key"] = "x" })
        let second = await bed.attempt(1).request
        #expect(second.url.absoluteString == "http://mirror.test/b")
        #expect(second.headers == [:])
    }

    @Test func `an idempotency key is not sent to another origin and permits no retry there`() async
    {
        let bed = TestBed(
            [Self.moved("http://other.test/", 308), .fail(.connectionReset, sent: .written)]
        ) { $0.retry.maximumRetryCount = 3 }
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.body = .data(Data("x".utf8))
                request.headers["Idempotency-Key"] = "k"
                request.allowsBodyAcrossOrigins = true
            })
        _ = await bed.outcome()
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `an allowed redirect from https to http drops secrets`() async {
        let bed = TestBed(["http://origin.test/b", "https://origin.test/c"].map { Self.moved($0) })
        bed.loader.perform(
            .make("/a", host: "https://origin.test") { request in
                request.allowsRedirectsToHTTP = true
                request.headers = ["Authorization": "x", "X-Api-Key": "y", "Accept": "z"]
            })
        for index in 1...2 {
            let sent = await bed.attempt(index).request
            #expect(sent.url.scheme == (index == 1 ? "http" : "https"))
            #expect(sent.headers == ["Accept": "z"])
        }
    }

    @Test func `a redirect with two different Location fields is delivered and not followed`() async
    {
        for (second, isFollowed) in [("/b", true), ("/c", false)] {
            let headers: HTTPHeaders = ["Location": "/b", "location": second]
            let bed = TestBed(
                [.respond(status: 302, headers: headers)], otherwise: .respond(status: 200))
            bed.loader.perform(.make("/a"))
            _ = await bed.outcome()
            #expect(bed.error == (isFollowed ? nil : .status(HTTPStatus(rawValue: 302))))
        }
    }

    // Locations that Foundation would rewrite.
    @Test(arguments: [
        "/a|b", "/%zz", "/%", "/%2F%zz|", "/x?a=b|c&d={e}", "/^`{}\"<>", "/[x]", "/a\\b", "/?[]",
        "/a//b", "/;p=1", "/%C3%A9", "/?%",
    ])
    func `a redirect target is requested byte for byte as it resolves`(location: String) {
        let bed = TestBed(
            [Self.moved(location), .respond(status: 503)], otherwise: .respond(status: 200)
        ) { $0.retry.maximumRetryCount = 1 }
        bed.loader.perform(.make("/a"))
        bed.settle()
        #expect(bed.passPause())
        #expect(bed.error == nil)
        // Once for the redirect and once for its retry.
        for attempt in bed.transport.attempts.dropFirst() {
            #expect(attempt.request.text == "http://origin.test" + location)
        }
        #expect(bed.transport.attempts.count == 3)
        var changed = bed.transport.attempts[1].request
        changed.url = testURL("http://other.test/")
        #expect(changed.text == "http://other.test/")
    }
}
