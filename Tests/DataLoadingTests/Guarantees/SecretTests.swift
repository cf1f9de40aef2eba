// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A secret never reaches another origin or a log.
// `RedirectSecrecyPropertyTests` has chains of redirects.
@Suite struct SecretTests {
    // MARK: Origins

    @Test(arguments: [
        "https://origin.test/", "http://origin.test:81/", "http://sub.origin.test/",
        "http://origin.test./", "http://other.test/",
    ])
    func `secrets for one origin are not sent to another after a redirect`(location: String) async {
        let authoriser = TestAuthoriser(
            .change { request in
                request.headers["X-Api-Key"] = "canary"
                request.headers.add("canary", for: "Cookie")
            },
            requires: {
                $0.url.host() == "origin.test" && $0.url.port == nil && $0.url.scheme == "http"
            })
        let bed = TestBed(
            [.respond(status: 307, headers: ["Location": location])],
            otherwise: .respond(status: 200), authorisers: [authoriser])
        bed.loader.perform(
            .make("/a") { request in
                for name in ["Authorization", "Cookie", "Proxy-Authorization", "Origin", "Referer"]
                {
                    request.headers[name] = "canary"
                }
                request.headers["Accept"] = "x"
            })
        let second = await bed.attempt(1).request
        #expect(!second.headers.fields.contains { $0.value.contains("canary") })
        #expect(second.headers["Accept"] == "x")
    }

    @Test(arguments: ["/b", "http://ORIGIN.test/b", "http://origin.test:80/b", "//origin.test/b"])
    func `a secret is kept in a redirect within its origin`(location: String) async {
        let bed = TestBed([.respond(status: 302, headers: ["Location": location])])
        bed.loader.perform(.make("/a") { $0.headers["Authorization"] = "canary" })
        let second = await bed.attempt(1).request
        #expect(second.headers["Authorization"] == "canary")
    }

    @Test func `a secret is not restored when redirects return to its origin`() async {
        let bed = TestBed([
            .respond(status: 302, headers: ["Location": "http://other.test/"]),
            .respond(status: 302, headers: ["Location": "http://origin.test/b"]),
        ])
        bed.loader.perform(.make("/a") { $0.headers["Authorization"] = "canary" })
        let third = await bed.attempt(2).request
        #expect(third.url.absoluteString == "http://origin.test/b")
        #expect(third.headers["Authorization"] == nil)
    }

    // MARK: Logs and descriptions

    /// A request with a canary in every place that may hold a secret.
    private static func request(_ userInformation: String = "") -> DataLoaderRequest {
        let url = testURL("http://\(userInformation)origin.test/path?key=canary#canary")
        var request = DataLoaderRequest(url: url, sourceIdentifier: "feature")
        request.headers = ["Authorization": "Bearer canary", "X-Api-Key": "canary"]
        request.method = .post
        request.body = .data(Data("canary".utf8))
        return request
    }

    @Test func `no log line contains a secret, whatever the outcome`() async {
        let answers: [ScriptedAnswer] = [
            .respond(
                status: 200, headers: ["Set-Cookie": "canary", "Location": "canary"],
                body: Data("canary".utf8)),
            .respond(
                status: 401, headers: ["WWW-Authenticate": "canary"], body: Data("canary".utf8)),
            .respond(status: 302, headers: ["Location": "http://user:canary@x/?canary"]),
            .fail(.dns), .fail(.connectionReset, sent: .written), .fail(.cancelled),
        ]
        for format in [ConsumptionLogger.Format.text, .json] {
            for answer in answers {
                for user in ["", "user:canary@"] {
                    let lines = EventRecorder<String>()
                    let logger = ConsumptionLogger(format: format) { lines.record($0) }
                    let authoriser = TestAuthoriser(
                        .change { request in
                            request.headers["X-Token"] = "canary"
                            request.url.append(queryItems: [
                                URLQueryItem(name: "t", value: "canary")
                            ])
                        })
                    let bed = TestBed(otherwise: answer, authorisers: [authoriser])
                    bed.service.addConsumptionObserver(logger, on: DispatchQueue(label: "log"))
                    bed.loader.perform(Self.request(user))
                    let line = await lines.first(1)[0]
                    #expect(!line.contains("canary"))
                    #expect(line.contains("feature"))
                    #expect(line.hasSuffix("\n"))
                    #expect(line.dropLast().contains("\n") == false)
                    let outcome = await bed.outcome()
                    #expect(!"\(outcome.map { "\($0)" } ?? "")".contains("canary"))
                    #expect(!String(reflecting: outcome).contains("canary"))
                }
            }
        }
    }

    @Test func `no error description contains a secret`() async {
        for (change, authoriser) in [
            ({ $0.url = testURL("http://u:canary@h/?canary") }, TestAuthoriser()),
            ({ $0.headers["X"] = "canary\r\n" }, TestAuthoriser()),
            ({ $0.method = HTTPMethod(rawValue: "canary\r\n") }, TestAuthoriser()),
            ({ _ in }, TestAuthoriser(.add("X", "canary\r\n"))),
            ({ _ in }, TestAuthoriser(.refuse)),
            ({ _ in }, DelegatingAuthoriser(identifier: "drop") { _, _ in }),
        ] as [((inout DataLoaderRequest) -> Void, any Authoriser)] {
            let bed = TestBed(authorisers: [authoriser])
            bed.loader.perform(.make("/", change))
            guard let error = bed.error else {
                Issue.record("no error")
                return
            }
            #expect(!"\(error)".contains("canary"))
            #expect(!String(reflecting: error).contains("canary"))
            #expect(!error.localizedDescription.contains("canary"))
            #expect(!error.name.contains("canary"))
        }
    }
}
