// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// SP-16: look at host and https before adding a secret.
@Suite struct StaticTokenAuthoriserTests {
    private static func authoriser(plain: Bool = false) -> StaticTokenAuthoriser {
        StaticTokenAuthoriser(
            token: "canary", hosts: ["API.test", "localhost", "[::1]"], allowsPlainLoopback: plain)
    }

    @Test(arguments: [
        ("https://api.test/x", true), ("https://API.TEST:443/", true),
        ("https://api.test:8443/", false), ("http://api.test/", false),
        ("https://api.test.evil/", false), ("https://evil-api.test/", false),
        ("https://sub.api.test/", false), ("http://localhost/", false), ("file:///x", false),
        ("https://api.test@evil.test/", false),
    ])
    func `a static token is sent only to its own hosts, over https`(url: String, expected: Bool) {
        let request = DataLoaderRequest(url: testURL(url))
        #expect(Self.authoriser().takesPart(in: request) == expected)
    }

    @Test func `a static token is sent over plain http only to a loopback host that allows it`() {
        let authoriser = Self.authoriser(plain: true)
        for (url, expected) in [
            ("http://localhost:80/", true), ("http://localhost:8080/", false),
            ("http://[::1]/", true), ("http://api.test/", false),
            ("http://127.0.0.1/", false),
        ] {
            let request = DataLoaderRequest(url: testURL(url))
            #expect(authoriser.takesPart(in: request) == expected)
        }
    }

    @Test func `a static token's host may be an address with or without brackets`() {
        for host in ["::1", "[::1]"] {
            let authoriser = StaticTokenAuthoriser(token: "canary", hosts: [host])
            let request = DataLoaderRequest(url: testURL("https://[::1]/"))
            #expect(authoriser.takesPart(in: request))
        }
    }

    @Test func `a static token is added to the field that was named`() async {
        let authoriser = StaticTokenAuthoriser(token: "canary", hosts: ["origin.test"]) {
            $1.headers["X-Api-Key"] = $0.value
        }
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(.make("/x", host: "https://origin.test"))
        _ = await bed.delegate.outcomes(1)
        let headers = bed.transport.attempts.first?.request.headers
        #expect(headers?["X-Api-Key"] == "canary")
        #expect(headers?["Authorization"] == nil)
    }

    @Test func `a static token does not replace a request's own field`() {
        var request = DataLoaderRequest(url: testURL("https://api.test"))
        request.headers["authorization"] = "mine"
        #expect(!Self.authoriser().takesPart(in: request))
    }

    // RFC 9110 section 9.3.8: the answer to a TRACE repeats what was sent.
    @Test func `a static token is not sent with TRACE`() {
        var request = DataLoaderRequest(url: testURL("https://api.test/"))
        request.method = .trace
        #expect(!Self.authoriser().takesPart(in: request))
    }

    @Test func `a static token is refused after a reset`() async {
        let authoriser = Self.authoriser()
        let bed = TestBed(authorisers: [authoriser])
        await bed.factory.reset()
        bed.loader.perform(.make("/", host: "https://api.test"))
        #expect(bed.error == .cannotAuthenticate(reason: "static token: the authoriser was reset"))
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a static token is sent to the one port that its host names`() {
        let authoriser = StaticTokenAuthoriser(token: "canary", hosts: ["api.test:8443"])
        for (url, expected) in [
            ("https://api.test:8443/", true), ("https://api.test/", false),
            ("https://api.test:84430/", false), ("http://api.test:8443/", false),
        ] {
            let request = DataLoaderRequest(url: testURL(url))
            #expect(authoriser.takesPart(in: request) == expected)
        }
    }

    @Test func `a static token is sent to every port when its host names a star as port`() {
        for host in ["api.test:*", "[::1]:*"] {
            let authoriser = StaticTokenAuthoriser(token: "canary", hosts: [host])
            for port in ["", ":443", ":8443", ":65535"] {
                let name = host.dropLast(2)
                let request = DataLoaderRequest(url: testURL("https://\(name)\(port)/"))
                #expect(authoriser.takesPart(in: request))
            }
            let other = DataLoaderRequest(url: testURL("https://other.test:8443/"))
            #expect(!authoriser.takesPart(in: other))
        }
    }
}
