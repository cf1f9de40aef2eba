// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A malformed setting ends the loads that it applies to and is never ignored.
@Suite struct MalformedConfigurationTests {
    private static let host = "https://api.test"

    private static func authorisers(_ hosts: Set<String>) throws -> [any Authoriser] {
        let service = TestBed().service
        let credentials = try BasicCredentials(username: "ada", password: "pw")
        let fixed = StaticTokenAuthoriser(token: "t", hosts: hosts)
        return [
            fixed,
            TokenAuthoriser(hosts: hosts, clock: ManualClock()) { _ in AccessToken("t") },
            BasicAuthoriser(hosts: hosts, credentials: credentials),
            StaticTokenAuthoriser(token: "t", hosts: hosts, method: .bearer),
            OAuthAuthoriser(
                OAuthConfiguration(
                    server: .endpoints(OAuthEndpoints(token: testURL("https://auth.test/token"))),
                    flow: .deviceCode, clientIdentifier: "client", hosts: hosts),
                service: service,
                store: MemoryCredentialStore(
                    OAuthCredentials(accessToken: "t", received: Date()))),
        ]
    }

    /// Returns the kind of the load's error, nil for success, and the number of its attempts.
    private func load(
        _ url: String, authorisers: [any Authoriser] = [],
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) async -> (kind: String?, attempts: Int) {
        let bed = TestBed(
            otherwise: .respond(status: 200), authorisers: authorisers, configure)
        return await load(url, bed)
    }

    private func load(_ url: String, _ bed: TestBed) async -> (kind: String?, attempts: Int) {
        let attempts = bed.transport.attempts.count
        let loader = bed.factory.makeDataLoader()
        var request = DataLoaderRequest(url: testURL(url))
        request.authenticationMethods =
            bed.factory.context.authorisers.compactMap(\.method)
        do {
            _ = try await loader.response(for: request)
            return (nil, bed.transport.attempts.count - attempts)
        } catch {
            let kind = (error as? DataLoaderError)?.name ?? "\(error)"
            return (kind, bed.transport.attempts.count - attempts)
        }
    }

    @Test(
        arguments: [
            ["https://api.test"], ["*.api.test"], ["api.test/"], ["api.test/v1"], [], [""], [" "],
            ["api.test:0"], ["api.test:65536"], ["api.test:"], ["api.test:x"], ["api.test:**"],
            ["user@api.test"], ["ä.test"], ["[::1"], ["*"], ["api.test", "https://b.test"],
        ] as [Set<String>])
    func `malformed hosts of an authoriser end its loads before anything is sent`(
        hosts: Set<String>
    ) async throws {
        for authoriser in try Self.authorisers(hosts) {
            let end = await load("https://api.test/x", authorisers: [authoriser])
            #expect(end == ("invalid_configuration", 0), "\(authoriser.identifier)")
        }
    }

    @Test(arguments: [
        "api.test", "API.test", "api.test:443", "api.test:*", "127.0.0.1", "::1", "[::1]",
        "[::1]:8443", "[::1]:*", "x_y", "localhost:8080",
    ])
    func `well-formed hosts of an authoriser end no load`(host: String) async throws {
        for authoriser in try Self.authorisers([host, "api.test"]) {
            let end = await load("https://api.test/x", authorisers: [authoriser])
            #expect(end == (nil, 1), "\(authoriser.identifier)")
        }
    }

    @Test func `a load that skips an authoriser with malformed hosts is sent`() async throws {
        let authorisers = try Self.authorisers(["https://api.test"])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: authorisers)
        bed.loader.perform(
            .make(host: Self.host) { $0.skipsAuthorisation = true })
        _ = await bed.outcome()
        #expect(bed.error == nil)
        // A request's own credentials are sent to the host of the request.
        let basic = BasicAuthoriser(hosts: [])
        let other = TestBed(otherwise: .respond(status: 200), authorisers: [basic])
        let own = try BasicCredentials(username: "ada", password: "pw")
        other.loader.perform(
            .make(host: Self.host) { $0[option: BasicCredentials.self] = own })
        _ = await other.outcome()
        #expect(other.error == nil)
        #expect(other.transport.attempts[0].request.headers["Authorization"] == own.fieldValue)
    }

    @Test(arguments: [
        "", " ", "a b", "http://x", "x/y", "x?y", "x#y", "u@x", "::1", "[::1", "x:0", "x:65536",
        "x:", "x:-1", "[::1]x", "x:1:2", "x\r\ny", "ä.test", "%61.test",
    ])
    func `a malformed address ends the loads of its host until it is corrected`(
        address: String
    ) async {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.service.resolver.setAddresses(["10.0.0.1", address], forHost: "API.test")
        #expect(await load("https://api.test/", bed) == ("invalid_configuration", 0))
        #expect(await load("https://other.test/", bed) == (nil, 1))
        bed.service.resolver.setAddresses(["10.0.0.1"], forHost: "api.test")
        #expect(await load("https://api.test/", bed) == (nil, 1))
        #expect(bed.transport.attempts.last?.request.address == "10.0.0.1")
    }

    @Test(arguments: ["https://api.test", "api.test:443", "api test", "", "*.test"])
    func `addresses for a malformed host end every load until they are removed`(
        host: String
    ) async {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.service.resolver.setAddresses(["10.0.0.1"], forHost: host)
        #expect(await load("https://api.test/", bed) == ("invalid_configuration", 0))
        #expect(await load("http://other.test/", bed) == ("invalid_configuration", 0))
        bed.service.resolver.setAddresses([], forHost: host)
        #expect(await load("https://api.test/", bed) == (nil, 1))
    }

    @Test(arguments: [-1, -0.001, Double.infinity, -.infinity, .nan])
    func `a malformed rate ends the loads that it applies to until it is corrected`(
        rate: Double
    ) async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let limiter = bed.service.rateLimiter
        limiter.setRequestsPerSecond(rate, forPathOf: testURL("https://api.test/search/x"))
        #expect(await load("https://api.test/search", bed) == ("invalid_configuration", 0))
        #expect(await load("https://api.test/other", bed) == (nil, 1))
        #expect(await load("http://api.test/search", bed) == (nil, 1))
        limiter.setRequestsPerSecond(100, forPathOf: testURL("https://api.test/search"))
        #expect(await load("https://api.test/search", bed) == (nil, 1))
        limiter.setRequestsPerSecond(rate, forHostOf: testURL("https://api.test"))
        #expect(await load("https://api.test/search", bed) == ("invalid_configuration", 0))
        #expect(await load("https://other.test/", bed) == (nil, 1))
        let all = await load("https://api.test/") {
            $0.rateLimiter = RateLimiter(defaultRequestsPerSecond: rate)
        }
        #expect(all == ("invalid_configuration", 0))
    }

    @Test(arguments: ["ftp://a.test", "/relative", "https://u:p@a.test", "data:,x"])
    func `a rate for an unloadable URL ends every load until it is removed`(
        url: String
    ) async {
        let bed = TestBed(otherwise: .respond(status: 200))
        bed.service.rateLimiter.setRequestsPerSecond(1, forHostOf: testURL(url))
        #expect(await load("https://api.test/", bed) == ("invalid_configuration", 0))
        bed.service.rateLimiter.setRequestsPerSecond(nil, forHostOf: testURL(url))
        #expect(await load("https://api.test/", bed) == (nil, 1))
    }

    // After a redirect the addresses of the new host apply.
    @Test func `a redirect to a host with a malformed address ends the load`() async {
        let bed = TestBed(
            [.respond(status: 302, headers: ["Location": "https://api.test/"])],
            otherwise: .respond(status: 200))
        bed.service.resolver.setAddresses(["http://x"], forHost: "api.test")
        #expect(await load("https://other.test/", bed) == ("invalid_configuration", 1))
    }

    @Test func `bootstrap refuses a malformed configuration`() async {
        await #expect(processExitsWith: .success) {
            var kinds: [String] = []
            for change in [
                { $0.resolver.setAddresses(["http://x"], forHost: "a.test") },
                { $0.rateLimiter.setRequestsPerSecond(.nan, forHostOf: testURL("http://a.test")) },
                { $0.serverTrustPolicy = ServerTrustPolicy(pinnedPublicKeys: ["A": []]) },
            ] as [(inout DataLoaderService.Configuration) -> Void] {
                var configuration = DataLoaderService.Configuration()
                change(&configuration)
                do {
                    try DataLoaderService.bootstrap(configuration)
                } catch let error as DataLoaderError {
                    kinds.append(error.name)
                } catch {
                    kinds.append("\(error)")
                }
            }
            #expect(kinds == ["invalid_configuration", "invalid_configuration", "certificate"])
            // The failed calls have changed nothing.
            try DataLoaderService.bootstrap(DataLoaderService.Configuration())
        }
    }
}
