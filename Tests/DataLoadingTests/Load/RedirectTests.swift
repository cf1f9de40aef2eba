// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Which redirects are followed, with which method and body.
@Suite struct RedirectTests {
    private static func moved(_ location: String, _ status: Int = 302) -> ScriptedAnswer {
        .respond(status: status, headers: ["Location": location], body: Data("moved".utf8))
    }

    @Test func `a redirect is followed, and the last response is delivered`() async {
        let bed = TestBed([
            Self.moved("/b"), Self.moved("c?d"), .respond(status: 200, body: Data("x".utf8)),
        ])
        bed.loader.perform(.make("/a"))
        let response = await bed.outcome()?.response
        let urls = bed.transport.attempts.map(\.request.url.absoluteString)
        #expect(urls == ["http://origin.test/a", "http://origin.test/b", "http://origin.test/c?d"])
        #expect(response?.body == Data("x".utf8))
        #expect(response?.resolvedURL?.absoluteString == "http://origin.test/c?d")
        #expect(response?.request.url.path == "/a")
        #expect(response?.metrics.redirects == 2)
        bed.expectNothingLeft()
    }

    // RFC 9110 section 10.2.2.
    @Test(
        arguments: [
            ("/a", ["/b", "c"], nil), ("/a#part", ["/b", "c"], "part"),
            ("/a#part", ["/b#other", "c"], "other"), ("/a", ["/b", "c#last"], "last"),
            ("/a#part", ["/b#", "c"], ""),
        ] as [(String, [String], String?)])
    func `a redirect keeps the fragment unless its location has one`(
        first: String, locations: [String], fragment: String?
    ) async {
        let bed = TestBed(locations.map { Self.moved($0) }, otherwise: .respond(status: 200))
        bed.loader.perform(.make(first))
        let resolved = await bed.outcome()?.response?.resolvedURL
        #expect(resolved?.fragment == fragment)
        #expect(resolved?.path == "/c")
        let sent = bed.transport.attempts.dropFirst().map(\.request.url.absoluteString)
        #expect(sent == ["http://origin.test/b", "http://origin.test/c"])
    }

    @Test(arguments: [
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
        (303, "PUT", "GET", false), (303, "HEAD", "HEAD", false), (307, "POST", "POST", true),
        (308, "POST", "POST", true), (301, "PUT", "PUT", true), (302, "PATCH", "PATCH", true),
        (308, "DELETE", "DELETE", true), (301, "GET", "GET", true), (303, "DELETE", "GET", false),
    ])
    func `a redirect changes method and body as RFC 9110 says`(
        status: Int, method: String, expected: String, keepsBody: Bool
    ) async {
        let bed = TestBed([Self.moved("/b", status)], otherwise: .respond(status: 200))
        bed.loader.perform(
            .make { request in
                request.method = HTTPMethod(rawValue: method)
                if method != "HEAD" { request.body = .data(Data("body".utf8)) }
                request.headers = ["Content-Type": "text/plain", "Accept": "x", "Digest": "y"]
            })
        _ = await bed.outcome()
        let second = bed.transport.attempts.last?.request
        #expect(bed.transport.attempts.count == 2)
        #expect(second?.method.rawValue == expected)
        #expect(second?.headers["Accept"] == "x")
        #expect((second?.body != nil) == keepsBody)
        #expect(second?.headers.contains("Content-Type") == keepsBody)
        #expect(second?.headers.contains("Digest") == keepsBody)
    }

    @Test func `a load follows ten redirects and fails at the eleventh`() async {
        for hops in [10, 11] {
            let answers = (0..<hops).map { Self.moved("/\($0)") }
            let bed = TestBed(answers, otherwise: .respond(status: 200))
            bed.loader.perform(.make("/start"))
            _ = await bed.outcome()
            #expect(bed.error == (hops == 10 ? nil : .redirectLimit))
            #expect(bed.transport.attempts.count == 11)
            bed.expectNothingLeft()
        }
    }

    @Test(arguments: [
        ["/a"], ["/b", "/a"], ["/b", "/c", "/b"], ["#x"], ["http://ORIGIN.test:80/a"],
    ])
    func `a redirect loop ends the load`(locations: [String]) async {
        let bed = TestBed(locations.map { Self.moved($0) }, otherwise: .respond(status: 200))
        bed.loader.perform(.make("/a"))
        _ = await bed.outcome()
        #expect(bed.error == .redirectLimit)
        #expect(bed.transport.attempts.count == locations.count)
    }

    @Test func `a redirect may return to the same URL with another method`() async {
        let bed = TestBed([Self.moved("/a", 303)], otherwise: .respond(status: 200))
        bed.loader.perform(.make("/a") { $0.method = .post })
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.map(\.request.method) == [.post, .get])
    }

    @Test func `a redirect from https to http is refused`() async {
        let bed = TestBed([Self.moved("http://origin.test/b")], otherwise: .respond(status: 200))
        bed.loader.perform(.make("/a", host: "https://origin.test"))
        _ = await bed.outcome()
        #expect(bed.error == .redirectRefused(reason: "https to http"))
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a redirect with user information is refused`() async {
        for location in ["http://user:pw@origin.test/b", "//user@origin.test/"] {
            let bed = TestBed([Self.moved(location)], otherwise: .respond(status: 200))
            bed.loader.perform(.make("/a"))
            _ = await bed.outcome()
            #expect(bed.error == .redirectRefused(reason: "user information"))
            #expect(bed.transport.attempts.count == 1)
        }
    }

    // The 3xx is the outcome when its Location cannot be loaded.
    @Test(arguments: [
        "file:///etc/passwd", "ftp://h/", "javascript:alert(1)", "", "http://", "http://h h/",
        "/a b", "/caf\u{E9}", "http://h:99999/", "http:/x", "http://[::1/", "/x\u{7F}",
    ])
    func `a redirect with an unloadable Location is delivered and not followed`(location: String)
        async
    {
        let bed = TestBed([Self.moved(location)], otherwise: .respond(status: 200))
        bed.loader.perform(.make("/a"))
        _ = await bed.outcome()
        #expect(bed.error == .status(HTTPStatus(rawValue: 302)))
        #expect(bed.ended?.response?.body == Data("moved".utf8))
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a redirect without Location and another 3xx are delivered`() async {
        for status in [300, 304, 305, 306, 302] {
            let headers: HTTPHeaders = status == 302 ? [:] : ["Location": "/b"]
            let bed = TestBed([.respond(status: status, headers: headers)])
            bed.loader.perform(.make())
            _ = await bed.outcome()
            #expect(bed.error == .status(HTTPStatus(rawValue: status)))
        }
    }

    @Test func `a redirect keeps every percent escape of its Location`() async {
        let bed = TestBed([Self.moved("/a%2Fb/%2e%2e?x=%26&y=/../z")], otherwise: .hold)
        bed.loader.perform(.make("/a"))
        let url = await bed.attempt(1).request.url.absoluteString
        #expect(url == "http://origin.test/a%2Fb/%2e%2e?x=%26&y=/../z")
    }

    // MARK: Policies

    @Test func `a redirect is delivered when the request's policy does not follow`() async {
        let bed = TestBed([Self.moved("/b")])
        bed.loader.perform(.make { $0.redirectPolicy = .doNotFollow })
        _ = await bed.outcome()
        #expect(bed.error == .status(HTTPStatus(rawValue: 302)))
        #expect(bed.transport.attempts.count == 1)
    }

    @Test func `a redirect policy is asked about each redirect`() async {
        let asked = EventRecorder<Redirect>()
        let bed = TestBed([Self.moved("/b"), Self.moved("http://other.test/c", 307)])
        bed.loader.perform(
            .make("/a") { request in
                request.redirectPolicy = .ask { redirect in
                    asked.record(redirect)
                    return redirect.count == 0
                }
            })
        _ = await bed.outcome()
        #expect(bed.error == .status(HTTPStatus(rawValue: 307)))
        #expect(
            asked.elements.map(\.to.absoluteString) == [
                "http://origin.test/b", "http://other.test/c",
            ])
        #expect(asked.elements.map(\.from.path) == ["/a", "/b"])
        #expect(asked.elements.map(\.count) == [0, 1])
    }

    // MARK: Bodies

    @Test func `a redirect with a one-shot body asks for another stream or is delivered`() async {
        for hasAnother in [true, false] {
            let delegate = RecordingDelegate(
                bodyStream: { hasAnother ? InputStream(data: Data("again".utf8)) : nil })
            let bed = TestBed(
                [
                    .run {
                        $0.takeBody(); $0.give(Self.moved("/b", 307))
                    }
                ],
                otherwise: .respond(status: 200), delegate: delegate)
            bed.loader.perform(
                .make { request in
                    request.method = .post
                    request.body = .oneShot(OneShotStream(InputStream(data: Data("once".utf8))))
                })
            _ = await bed.outcome()
            #expect(bed.error == (hasAnother ? nil : .status(HTTPStatus(rawValue: 307))))
            #expect(bed.transport.attempts.count == (hasAnother ? 2 : 1))
            if hasAnother {
                #expect(bed.transport.attempts[1].takeBody() == Data("again".utf8))
            } else {
                #expect(bed.ended?.response?.body == Data("moved".utf8))
            }
            bed.expectNothingLeft()
        }
    }
}
