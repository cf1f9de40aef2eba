// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingTransport
@testable import DataLoading
@testable import DataLoadingAuth
import DataLoadingTesting
import Foundation
import Testing

// Loads through a proxy: which attempts use it, and with which credential.
@Suite struct ProxyLoadTests {
    private static let refusal = ScriptedAnswer.respond(
        status: 407, headers: ["Proxy-Authenticate": "Basic realm=\"p\""])

    @Test func `only direct hosts are loaded without the proxy`() throws {
        let bed = try TestBed.behindProxy()
        bed.loader.perform(.make())
        bed.loader.perform(.make(host: "https://secure.test"))
        bed.loader.perform(.make(host: "http://direct.test:81"))
        bed.settle()
        let requests = bed.transport.attempts.map(\.request)
        #expect(
            requests.map { $0.proxy?.description } == [
                "https://proxy.test:3128", "https://proxy.test:3128", nil,
            ])
        #expect(requests.allSatisfy { $0.proxyAuthorization == nil && $0.address == nil })
        bed.expectNothingLeft()
    }

    @Test func `the credential of the proxy goes to the proxy and into no field of the request`()
        async throws
    {
        let own = TestAuthoriser(.add("Authorization", "Bearer origin"))
        let proxys = TestAuthoriser(.add("Authorization", "Basic proxy"))
        let bed = try TestBed.behindProxy(authorisers: [own], proxyAuthoriser: proxys)
        bed.loader.perform(.make("/a"))
        bed.loader.perform(.make("/b", host: "https://direct.test"))
        _ = await bed.delegate.outcomes(2)
        let requests = Dictionary(
            uniqueKeysWithValues: bed.transport.attempts.map { ($0.request.url.path, $0.request) })
        #expect(requests["/a"]?.proxyAuthorization == "Basic proxy")
        #expect(requests["/b"]?.proxyAuthorization == nil)
        #expect(requests.values.allSatisfy { $0.headers["Authorization"] == "Bearer origin" })
        #expect(requests.values.allSatisfy { !$0.headers.contains("Proxy-Authorization") })
        #expect(own.calls.count == 2)
        #expect(proxys.calls == [.authorise("")] || proxys.calls == [.authorise("/")])
    }

    @Test func `a 407 makes the proxy's authoriser recover, and the load is sent once more`()
        async throws
    {
        let own = TestAuthoriser(.add("X-Key", "origin"))
        let proxys = TestAuthoriser(.add("Authorization", "Basic old"))
        let bed = try TestBed.behindProxy([.hold], authorisers: [own], proxyAuthoriser: proxys)
        bed.loader.perform(.make { $0.method = .post })
        let first = await bed.attempt(0)
        proxys.answers(.add("Authorization", "Basic new"))
        first.respond(status: 407)
        _ = await bed.outcome()
        #expect(bed.error == nil)
        let sent = bed.transport.attempts.map(\.request.proxyAuthorization)
        #expect(sent == ["Basic old", "Basic new"])
        #expect(proxys.calls.contains { if case .failed(_, 407) = $0 { true } else { false } })
        #expect(!own.calls.contains { if case .failed = $0 { true } else { false } })
        bed.expectNothingLeft()
    }

    @Test(arguments: [true, false])
    func `a second 407, or one without another credential, ends the load as the proxy's`(
        recovers: Bool
    ) async throws {
        let proxys = TestAuthoriser(recovers: recovers)
        let bed = try TestBed.behindProxy(otherwise: Self.refusal, proxyAuthoriser: proxys) {
            $0.retry.maximumRetryCount = 3
        }
        bed.loader.perform(.make { $0.method = .post })
        _ = await bed.outcome()
        #expect(bed.error == .proxy(.status(.proxyAuthenticationRequired)))
        #expect(bed.error?.phase == .connecting)
        #expect(bed.error?.mayHaveBeenProcessed == false)
        #expect(bed.ended?.response?.statusCode == nil)
        #expect(bed.ended?.response?.headers.fields.isEmpty == true)
        #expect(bed.transport.attempts.count == (recovers ? 2 : 1))
        bed.expectNothingLeft()
    }

    @Test func `a 407 without an authoriser ends the load, and one of a direct host is a status`()
        async throws
    {
        let bed = try TestBed.behindProxy(otherwise: Self.refusal)
        bed.loader.perform(.make())
        _ = await bed.outcome()
        #expect(bed.error == .proxy(.status(.proxyAuthenticationRequired)))
        let direct = try TestBed.behindProxy(otherwise: Self.refusal)
        direct.loader.perform(.make(host: "http://direct.test"))
        _ = await direct.outcome()
        #expect(direct.error == .status(.proxyAuthenticationRequired))
    }

    @Test func `a 401 of the server does not concern the proxy's authoriser`() async throws {
        let own = TestAuthoriser(.add("X-Key", "origin"))
        let proxys = TestAuthoriser()
        let bed = try TestBed.behindProxy(
            [.respond(status: 407), .respond(status: 401)], authorisers: [own],
            proxyAuthoriser: proxys)
        bed.loader.perform(.make())
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.count == 3)
        let told = { (authoriser: TestAuthoriser) in
            authoriser.calls.compactMap { call -> Int? in
                if case .failed(_, let status) = call { status } else { nil }
            }
        }
        #expect(told(own) == [401])
        #expect(told(proxys) == [407])
    }

    @Test func `a redirect to a direct host leaves proxy and credential behind`() async throws {
        let bed = try TestBed.behindProxy(
            [.respond(status: 302, headers: ["Location": "http://direct.test/"])],
            proxyAuthoriser: TestAuthoriser())
        bed.loader.perform(.make())
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.map { $0.request.proxy == nil } == [false, true])
        #expect(
            bed.transport.attempts.map(\.request.proxyAuthorization) == ["Bearer token", nil])
    }

    @Test func `a request that skips authorisation is authorised to the proxy alone`()
        async throws
    {
        let own = TestAuthoriser()
        let bed = try TestBed.behindProxy(
            authorisers: [own], proxyAuthoriser: TestAuthoriser(.add("Authorization", "Basic p")))
        bed.loader.perform(
            .make {
                $0.skipsAuthorisation = true
                $0.authenticationMethods = [.basic]
            })
        _ = await bed.outcome()
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.map(\.request.proxyAuthorization) == ["Basic p"])
        #expect(own.calls.isEmpty)
    }

    @Test func `Basic authorises to an https proxy by its hosts, and asks for another password`()
        async throws
    {
        let wrong = try BasicCredentials(username: "ada", password: "old")
        let right = try BasicCredentials(username: "ada", password: "new")
        let asked = EventRecorder<BasicCredentials?>()
        let authoriser = BasicAuthoriser(hosts: ["proxy.test:3128"], credentials: wrong) {
            refused in
            asked.record(refused)
            return right
        }
        let bed = try TestBed.behindProxy([Self.refusal], proxyAuthoriser: authoriser)
        for _ in 0..<2 {
            _ = try await bed.loader.response(for: .make())
        }
        #expect(
            bed.transport.attempts.map(\.request.proxyAuthorization)
                == [wrong.fieldValue, right.fieldValue, right.fieldValue])
        #expect(asked.elements == [wrong])
        #expect(bed.transport.attempts.allSatisfy { !$0.request.proxyNeedsLoopbackPeer })
    }

    @Test func `Basic sends no password to a plain proxy of another machine`() async throws {
        let credentials = try BasicCredentials(username: "ada", password: "word")
        for (url, isLocal) in [("http://proxy.test", false), ("http://127.0.0.1:3128", true)] {
            let authoriser = BasicAuthoriser(
                hosts: ["proxy.test:80", "127.0.0.1:3128"], allowsPlainLoopback: true,
                credentials: credentials)
            let proxy = try Proxy(url)
            let bed = TestBed(otherwise: .respond(status: 200)) { configuration in
                configuration.proxy = proxy
                configuration.proxyAuthoriser = authoriser
            }
            _ = try await bed.loader.response(for: .make())
            let request = try #require(bed.transport.attempts.first?.request)
            #expect((request.proxyAuthorization != nil) == isLocal)
            #expect(request.proxyNeedsLoopbackPeer == isLocal)
            #expect(!request.needsLoopbackPeer)
        }
    }

    @Test func `a TRACE carries no credential for the proxy`() async throws {
        let bed = try TestBed.behindProxy(proxyAuthoriser: TestAuthoriser())
        bed.loader.perform(.make { $0.method = .trace })
        _ = await bed.outcome()
        #expect(bed.transport.attempts.map(\.request.proxyAuthorization) == [nil])
    }

    @Test func `an authoriser that answers later delays the load, and a refusal ends it`()
        async throws
    {
        let proxys = TestAuthoriser(.hold)
        let bed = try TestBed.behindProxy(proxyAuthoriser: proxys)
        bed.loader.perform(.make())
        _ = await proxys.held(1)
        #expect(bed.transport.attempts.isEmpty)
        proxys.grant(0)
        _ = await bed.outcome()
        #expect(bed.transport.attempts.map(\.request.proxyAuthorization) == ["Bearer late"])
        let refusing = try TestBed.behindProxy(proxyAuthoriser: TestAuthoriser(.refuse))
        refusing.loader.perform(.make())
        _ = await refusing.outcome()
        #expect(refusing.error?.name == "cannot_authenticate")
        #expect(refusing.transport.attempts.isEmpty)
    }

    @Test func `a POST is retried when the proxy could not be reached, and waits for it`()
        async throws
    {
        let bed = try TestBed.behindProxy([.fail(.proxy(.connectRefused)), .fail(.proxy(.dns))])
        bed.loader.perform(
            .make {
                $0.method = .post
                $0.waitsForConnectivity = true
                $0.retryPolicy = .immediately(maximumRetries: 1)
            })
        while bed.transport.attempts.count < 3 { #expect(bed.passPause()) }
        #expect(bed.error == nil)
        bed.expectNothingLeft()
    }

    @Test
    func `a reset of the service resets the proxy's authoriser once, one of a factory does not`()
        async throws
    {
        let proxys = TestAuthoriser()
        let bed = try TestBed.behindProxy(proxyAuthoriser: proxys)
        let other = bed.service.makeFactory()
        await bed.factory.reset()
        #expect(proxys.calls.isEmpty)
        await bed.service.reset()
        #expect(proxys.calls == [.reset])
        _ = other
    }

    @Test func `the cache of factories without authorisers stays shared behind a proxy`()
        async throws
    {
        let bed = try TestBed.behindProxy(
            otherwise: .respond(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: Data("a".utf8)),
            proxyAuthoriser: TestAuthoriser()
        ) { $0.cache = .memory() }
        _ = try await bed.loader.response(for: .make())
        let other = bed.service.makeFactory().makeDataLoader()
        let second = try await other.response(for: .make())
        #expect(second.metrics.source == .cache)
        #expect(bed.transport.attempts.count == 1)
    }
}
