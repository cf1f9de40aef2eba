// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension LongComputations {
    /// With the library's authorisers, no chain of redirects sends a credential or a body to another
    /// scheme, host or port than it was made for.
    @Suite struct AuthoriserSecrecyPropertyTests {
        enum Kind: CaseIterable, Sendable {
            case `static`, keyed, token, basic, oauth, methods
        }

        /// The host that the authoriser is configured with, and the origins that it means.
        private static let homes: [(named: String, origins: Set<String>)] = [
            ("a.test", ["https://a.test:443"]),
            ("A.test:8443", ["https://a.test:8443"]),
            ("127.0.0.1", ["https://127.0.0.1:443", "http://127.0.0.1:80"]),
            ("127.0.0.1:8080", ["https://127.0.0.1:8080", "http://127.0.0.1:8080"]),
            ("localhost", ["https://localhost:443", "http://localhost:80"]),
            ("::1", ["https://[::1]:443", "http://[::1]:80"]),
        ]
        /// Origins that differ only by scheme, host or port.
        private static let places = [
            "https://a.test", "https://A.test:443", "https://a.test:8443", "https://a.test:80",
            "http://a.test", "http://a.test:443", "http://a.test:8443", "https://sub.a.test",
            "https://a.test.", "https://b.test", "http://127.0.0.1", "https://127.0.0.1",
            "http://127.0.0.1:8080", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
            "http://127.0.0.2", "http://localhost", "https://localhost", "http://localhost:8080",
            "http://[::1]", "https://[::1]", "http://[::1]:8080",
        ]

        @Test(arguments: Kind.allCases)
        func `no authoriser of the library shows a credential or body to another origin`(
            kind: Kind
        ) async throws {
            for index in 0..<UInt64(propertyCases / 10) {
                let seed = 20_261_122 &+ index
                guard let fault = try await Self.play(kind, seed) else { continue }
                Issue.record("\(kind), seed \(seed): \(fault)")
                return
            }
        }

        private static func play(_ kind: Kind, _ seed: UInt64) async throws -> String? {
            var generator = SeededGenerator(seed: seed)
            let home = homes[Int.random(in: 0..<homes.count, using: &generator)]
            let known = places.filter { home.origins.contains(origin(testURL($0))) }
            let others = places.shuffled(using: &generator).prefix(4)
            func place() -> String {
                (Bool.random(using: &generator) ? known : Array(others))
                    .randomElement(using: &generator) ?? ""
            }
            let first = known.randomElement(using: &generator) ?? ""
            let hops = (0..<Int.random(in: 1...8, using: &generator)).map { hop in
                let status = [301, 302, 303, 307, 308].randomElement(using: &generator) ?? 307
                return ScriptedAnswer.respond(
                    status: status, headers: ["Location": place() + "/\(hop)"])
            }
            let clock = ManualClock()
            let bed = TestBed(hops, otherwise: .respond(status: 200), clock: clock)
            let authorisers = try authorisers(kind, [home.named], bed)
            let loader = bed.service.makeFactory(authorisers: authorisers).makeDataLoader()
            var request = DataLoaderRequest(url: testURL(first + "/start"))
            request.method = [.get, .post, .put].randomElement(using: &generator) ?? .get
            if request.method != .get { request.body = .data(Data(origin(request.url).utf8)) }
            request.allowsRedirectsToHTTP = true
            if kind == .methods { request.authenticationMethods = [.bearer, .basic] }
            _ = try? await loader.response(for: request)
            for (number, attempt) in bed.transport.attempts.enumerated() {
                let here = origin(attempt.request.url)
                let fields = attempt.request.headers
                let isShown = fields.contains("Authorization") || fields.contains("X-Api-Key")
                if isShown != home.origins.contains(here) {
                    return
                        "attempt \(number) to \(here) \(isShown ? "has a" : "lacks its") credential"
                }
                if let body = attempt.takeBody(), body != Data(here.utf8) {
                    return "attempt \(number) to \(here) has a body for another origin"
                }
            }
            return nil
        }

        private static func origin(_ url: URL) -> String {
            (try? RequestTarget(url)).map { "\($0.origin)" } ?? "nowhere"
        }

        private static func authorisers(
            _ kind: Kind, _ hosts: Set<String>, _ bed: TestBed
        ) throws -> [any Authoriser] {
            let credentials = try BasicCredentials(username: "ada", password: "pw")
            let basic = BasicAuthoriser(
                hosts: hosts, allowsPlainLoopback: true, credentials: credentials)
            let fixed = StaticTokenAuthoriser(token: "t", hosts: hosts, allowsPlainLoopback: true)
            switch kind {
            case .static: return [fixed]
            case .keyed:
                return [
                    StaticTokenAuthoriser(token: "t", hosts: hosts, allowsPlainLoopback: true) {
                        $1.headers["X-Api-Key"] = $0.value
                    }
                ]
            case .token:
                return [
                    TokenAuthoriser(hosts: hosts, allowsPlainLoopback: true, clock: bed.clock) {
                        _ in
                        AccessToken("t")
                    }
                ]
            case .basic: return [basic]
            case .methods:
                return [
                    StaticTokenAuthoriser(
                        token: "t", hosts: hosts, allowsPlainLoopback: true, method: .bearer),
                    BasicAuthoriser(
                        hosts: hosts, allowsPlainLoopback: true, method: .basic,
                        credentials: credentials),
                ]
            case .oauth:
                var configuration = OAuthConfiguration(
                    server: .endpoints(OAuthEndpoints(token: testURL("https://auth.test/token"))),
                    flow: .deviceCode, clientIdentifier: "client", hosts: hosts)
                configuration.allowsPlainLoopback = true
                let stored = OAuthCredentials(accessToken: "t", received: bed.clock.date)
                return [
                    OAuthAuthoriser(
                        configuration, service: bed.service, store: MemoryCredentialStore(stored))
                ]
            }
        }
    }
}
