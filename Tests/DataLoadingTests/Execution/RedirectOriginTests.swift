// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// What goes along when a redirect leads to another origin, and where it may lead.
// RD-03; FAULTS section 4: secrets, https to http, fields of services' own.
@Suite struct RedirectOriginTests {
    private static func moved(_ location: String, _ status: Int = 307) -> ScriptedAnswer {
        .respond(status: status, headers: ["Location": location])
    }

    /// Sends a request with these fields through one redirect; tells what went along.
    private static func fields(
        _ fields: HTTPHeaders, over location: String = "http://other.test/",
        naming names: [String] = []
    ) async -> HTTPHeaders {
        let bed = TestBed([moved(location)])
        bed.loader.perform(
            .make { request in
                request.headers = fields
                request[option: FieldsKeptAcrossOrigins.self] = names
            })
        return await bed.attempt(1).request.headers
    }

    @Test(arguments: [
        "Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "Range",
        "If-Modified-Since", "Cache-Control", "PRAGMA", "Prefer", "traceparent",
    ])
    func `takes along what means the same to everybody`(name: String) async {
        #expect(await Self.fields([name: "x"]) == [name: "x"])
    }

    @Test(arguments: [
        "Authorization", "Cookie", "Proxy-Authorization", "Origin", "Referer", "X-Api-Key",
        "x-auth-token", "PRIVATE-TOKEN", "X-Amz-Security-Token", "Idempotency-Key", "baggage",
        "From", "Forwarded", "X-Anything", "Authentication", "Sec-WebSocket-Key", "Accept-Secret",
        "If-None-Match", "Tracestate",
    ])
    func `leaves behind what may have been made for its origin`(name: String) async {
        #expect(await Self.fields([name: "x", "Accept": "y"]) == ["Accept": "y"])
        #expect(await Self.fields([name: "x"], over: "/b") == [name: "x"])
    }

    // Without its validator the range may be another representation's (RFC 9110 section 13.1.5).
    @Test func `leaves a range behind that an If-Range guards`() async {
        let fields: HTTPHeaders = ["Range": "bytes=5-", "If-Range": "\"v\"", "Accept": "y"]
        #expect(await Self.fields(fields) == ["Accept": "y"])
        #expect(await Self.fields(fields, over: "/b") == fields)
        #expect(await Self.fields(fields, naming: ["If-Range"]) == fields)
    }

    // Without its condition the request would do what it may do under it alone.
    @Test func `delivers a redirect that would lose an If-Match`() async {
        for (names, attempts) in [([], 1), (["if-match"], 2)] {
            let bed = TestBed(
                [Self.moved("http://other.test/")], otherwise: .respond(status: 200))
            bed.loader.perform(
                .make { request in
                    request.method = .delete
                    request.headers["If-Match"] = "\"v\""
                    request[option: FieldsKeptAcrossOrigins.self] = names
                })
            _ = await bed.outcome()
            #expect(bed.transport.attempts.count == attempts)
            #expect(
                bed.error == (attempts == 1 ? .status(HTTPStatus(rawValue: 307)) : nil))
        }
    }

    @Test(arguments: [307, 308])
    func `delivers a redirect that would take a body to another origin`(status: Int) async {
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

    @Test func `takes along what the request names, whatever its case, but no credential`() async {
        let fields: HTTPHeaders = [
            "X-Request-Id": "1", "x-request-ID": "2", "X-Other": "3", "Authorization": "4",
            "Cookie": "5",
        ]
        let kept = await Self.fields(
            fields, naming: ["X-REQUEST-ID", "authorization", "Cookie", "Referer"])
        #expect(kept == ["X-Request-Id": "1", "x-request-ID": "2"])
    }

    @Test func `brings nothing back that was left behind`() async {
        let bed = TestBed(["http://other.test/", "http://origin.test/b"].map { Self.moved($0) })
        bed.loader.perform(.make("/a") { $0.headers = ["X-Api-Key": "x", "Accept": "y"] })
        let third = await bed.attempt(2).request
        #expect(third.url.absoluteString == "http://origin.test/b")
        #expect(third.headers == ["Accept": "y"])
    }

    @Test func `asks the authorisers again, with the new URL and without what they made`() async {
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

    @Test func `keeps the caller's fields from where an authoriser led the request`() async {
        let authoriser = TestAuthoriser(
            .change { $0.url = testURL("http://mirror.test" + $0.url.path) },
            requires: { $0.url.host() == "origin.test" })
        let bed = TestBed([Self.moved("/b")], authorisers: [authoriser])
        bed.loader.perform(.make("/a") { $0.headers["X-Api-Key"] = "x" })
        let second = await bed.attempt(1).request
        #expect(second.url.absoluteString == "http://mirror.test/b")
        #expect(second.headers == [:])
    }

    @Test func `sends no key for repeats to who never heard of it`() async {
        let bed = TestBed(
            [Self.moved("http://other.test/", 308), .fail(.connectionReset, sent: .written)]
        ) { $0.retry.maximumRetryCount = 3 }
        bed.loader.perform(
            .make { request in
                request.method = .post
                request.body = .data(Data("x".utf8))
                request.headers["Idempotency-Key"] = "k"
                request[option: AllowsBodyAcrossOrigins.self] = true
            })
        _ = await bed.outcome()
        #expect(bed.error == .connectionReset)
        #expect(bed.transport.attempts.count == 2)
    }

    @Test func `leads from https to http where the request allows it, without secrets`() async {
        let bed = TestBed(["http://origin.test/b", "https://origin.test/c"].map { Self.moved($0) })
        bed.loader.perform(
            .make("/a", host: "https://origin.test") { request in
                request[option: AllowsRedirectsToHTTP.self] = true
                request.headers = ["Authorization": "x", "X-Api-Key": "y", "Accept": "z"]
            })
        for index in 1...2 {
            let sent = await bed.attempt(index).request
            #expect(sent.url.scheme == (index == 1 ? "http" : "https"))
            #expect(sent.headers == ["Accept": "z"])
        }
    }

    @Test func `goes nowhere when two places are named`() async {
        for (second, isFollowed) in [("/b", true), ("/c", false)] {
            let headers: HTTPHeaders = ["Location": "/b", "location": second]
            let bed = TestBed(
                [.respond(status: 302, headers: headers)], otherwise: .respond(status: 200))
            bed.loader.perform(.make("/a"))
            _ = await bed.outcome()
            #expect(bed.error == (isFollowed ? nil : .status(HTTPStatus(rawValue: 302))))
        }
    }

    // A Location that Foundation would write otherwise.
    @Test(arguments: [
        "/a|b", "/%zz", "/%", "/%2F%zz|", "/x?a=b|c&d={e}", "/^`{}\"<>", "/[x]", "/a\\b", "/?[]",
        "/a//b", "/;p=1", "/%C3%A9", "/?%",
    ])
    func `is requested to the byte as it resolves`(location: String) {
        let bed = TestBed(
            [Self.moved(location), .respond(status: 503)], otherwise: .respond(status: 200)
        ) { $0.retry.maximumRetryCount = 1 }
        bed.loader.perform(.make("/a"))
        bed.settle()
        #expect(bed.passPause())
        #expect(bed.error == nil)
        // Once as a redirect, and once more as its retry.
        for attempt in bed.transport.attempts.dropFirst() {
            #expect(attempt.request.text == "http://origin.test" + location)
        }
        #expect(bed.transport.attempts.count == 3)
        var changed = bed.transport.attempts[1].request
        changed.url = testURL("http://other.test/")
        #expect(changed.text == "http://other.test/")
    }
}
