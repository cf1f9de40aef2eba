// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// No value reaches an origin that it was not made for along any chain of redirects.
    // X-Api-Key and the fields that an authoriser adds are among the values.
    @Suite struct RedirectSecrecyPropertyTests {
        /// Origins that are easily confused, and different spellings of one origin.
        private static let places: [[String]] = [
            [
                "http://a.test", "http://A.TEST", "http://a.test:80", "HTTP://a.test:",
                "http://a.test:0080",
            ],
            ["https://a.test", "https://a.test:443", "HTTPS://A.test"],
            ["http://a.test:8080"], ["http://a.test:443"], ["https://a.test:80"],
            ["http://sub.a.test"],
            ["http://a.test."], ["http://b.test", "http://B.test:80"], ["http://a.testa"],
            ["http://[::1]", "http://[::1]:80"], ["http://[::2]"], ["http://127.0.0.1"],
        ]
        private static let secrets = [
            "Authorization", "Cookie", "Proxy-Authorization", "Origin", "Referer", "X-Api-Key",
            "X-Auth-Token", "Idempotency-Key", "baggage",
        ]

        /// The value that marks what was made for the origin of a URL.
        private static func tag(_ url: URL) -> String {
            (try? RequestTarget(url)).map { "for \($0.origin)" } ?? "for nobody"
        }

        @Test func `no value reaches an origin that it was not made for along any redirects`() async
        {
            for index in 0..<UInt64(propertyCases / 5) {
                let seed = 20_260_101 &+ index
                guard let fault = await Self.play(seed) else { continue }
                Issue.record("seed \(seed): \(fault)")
                return
            }
        }

        private static func play(_ seed: UInt64) async -> String? {
            var generator = SeededGenerator(seed: seed)
            let origins = places.shuffled(using: &generator).prefix(4)
            func place() -> String {
                origins.randomElement(using: &generator)?.randomElement(using: &generator) ?? ""
            }
            let first = place()
            let hops = (0..<Int.random(in: 1...10, using: &generator)).map { hop in
                let status = [301, 302, 303, 307, 308, 401].randomElement(using: &generator) ?? 302
                let location =
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: "/\(hop)"
                    case 1: "//" + place().drop { $0 != "/" }.dropFirst(2) + "/\(hop)"
                    default: place() + "/\(hop)"
                    }
                return ScriptedAnswer.respond(status: status, headers: ["Location": location])
            }
            let authoriser = TestAuthoriser(
                .change { request in
                    for name in ["X-Session", "Authorization", "X-Api-Key"] {
                        request.headers[name] = tag(request.url)
                    }
                    request.headers.add(tag(request.url), for: "Accept")
                },
                requires: { [isPicky = Bool.random(using: &generator)] request in
                    !isPicky || request.url.scheme == "http"
                })
            let isAuthorised = Bool.random(using: &generator)
            let names = secrets.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
            let isNamed = Set(names).subtracting(
                ["Authorization", "Cookie", "Proxy-Authorization", "Origin", "Referer"])
            let bed = TestBed(
                hops, otherwise: .respond(status: 200),
                authorisers: isAuthorised ? [authoriser] : [])
            bed.loader.perform(
                .make("/a", host: first) { request in
                    for name in secrets { request.headers[name] = tag(testURL(first)) }
                    request.headers["Accept-Language"] = "en"
                    request.method = [.get, .post, .put].randomElement(using: &generator) ?? .get
                    if request.method != .get {
                        request.body = .data(Data(tag(testURL(first)).utf8))
                    }
                    request.allowsRedirectsToHTTP = Bool.random(using: &generator)
                    request.fieldsKeptAcrossOrigins = names
                })
            _ = await bed.outcome()
            for (number, attempt) in bed.transport.attempts.enumerated() {
                let expected = tag(attempt.request.url)
                guard attempt.request.headers["Accept-Language"] == "en" else {
                    return "attempt \(number) lost a field that is nobody's"
                }
                if let body = attempt.takeBody(), body != Data(expected.utf8) {
                    return "attempt \(number) \(expected) has a body that is not"
                }
                for field in attempt.request.headers.fields
                where field.value.hasPrefix("for ") && !isNamed.contains(field.name) {
                    if field.value != expected {
                        return "attempt \(number) \(expected) has \(field.name) \(field.value)"
                    }
                }
            }
            return nil
        }
    }
}
