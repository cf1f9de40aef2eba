// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Refreshes and log outs that others run into.
@Suite struct OAuthEndingTests {
    @Test func `a refresh outlasts the cancellation of all loads of the service`() async throws {
        let test = OAuthBed()
        await test.logIn()
        let asked = test.bed.transport.attempts.count
        test.bed.transport.then(.hold)
        test.clock.advance(by: .seconds(3_600))
        test.perform()
        let attempt = await test.bed.attempt(asked)
        #expect(attempt.request.url.path == "/token")
        test.bed.service.cancelAllLoads()
        // It is with the server, which replaces the refresh token.
        test.provider.serve(attempt)
        #expect(!attempt.isCancelled)
        _ = await test.ends(2)
        test.clock.advance(by: .seconds(30))
        #expect(await test.load()?.error == nil)
        test.expectNoViolation()
    }

    @Test func `a refused refresh token is not sent again while the access token lasts`() async {
        let test = OAuthBed()
        await test.logIn()
        test.provider.state.withLock { $0.families = [:] }
        test.clock.advance(by: .seconds(3_541))
        #expect(await test.load()?.error == nil)
        await eventually { test.provider.asked("refresh_token") == 1 }
        for _ in 0..<4 {
            for _ in 0..<100 { await Task.yield() }
            test.clock.advance(by: .seconds(4))
            #expect(await test.load()?.error == nil)
        }
        #expect(test.provider.asked("refresh_token") == 1)
    }

    @Test func `a log-out takes a few seconds when the issuer is gone`() async throws {
        let clock = ManualClock()
        let credentials = OAuthCredentials(
            accessToken: "a", refreshToken: "r", lifetime: .seconds(3_600), received: clock.date)
        let test = OAuthBed(store: MemoryCredentialStore(credentials)) { configuration, provider in
            configuration.server = .issuer(testURL("https://auth.test"))
            provider.state.withLock { $0.accessTokens["a"] = (1, .distantFuture) }
        }
        #expect(await test.load()?.error == nil)
        let asked = test.bed.transport.attempts.count
        test.bed.transport.then(.hold)
        async let reset = test.factory.reset()
        // One question, of five seconds: where there is no document there is nothing to ask.
        _ = await test.bed.attempt(asked)
        test.clock.advance(by: .seconds(5))
        _ = await reset
        #expect(test.bed.transport.attempts.count == asked + 1)
        #expect(try await test.store.load() == nil)
    }

    @Test func `a rotated token is stored before an orderly shut-down returns`() async {
        let store = SlowStore()
        let test = OAuthBed(store: store)
        await test.logIn()
        store.isHeld.withLock { $0 = true }
        test.clock.advance(by: .seconds(3_541))
        let asked = test.bed.transport.attempts.count
        // The load, and beside it the renewal.
        #expect(await test.load()?.error == nil)
        await eventually { test.bed.transport.attempts.count == asked + 2 }
        let ends = store.ends
        let shutDown = Task {
            await test.bed.service.shutDown(gracePeriod: .seconds(10))
            ends.record("over")
        }
        _ = await ends.first(1)
        test.bed.settle()
        store.release.record(())
        await shutDown.value
        #expect(ends.elements == ["writes", "kept", "over"])
        #expect(await store.load()?.refreshToken == "refresh-3")
    }

    @Test
    func `the credentials of a device's login are stored before an orderly shut-down returns`()
        async
    {
        let store = SlowStore()
        let test = OAuthBed(.deviceCode, store: store)
        // As a program that begins with it: no load waits.
        let login = Task { try await test.authoriser.logIn() }
        _ = await test.person.codes.first(1)
        store.isHeld.withLock { $0 = true }
        test.provider.decide(approve: true)
        await test.clock.waitForAlarms(1, within: .seconds(5))
        test.clock.advance(by: .seconds(5))
        let ends = store.ends
        _ = await ends.first(1)
        let shutDown = Task {
            await test.bed.service.shutDown(gracePeriod: .seconds(10))
            ends.record("over")
        }
        for _ in 0..<1_000 { await Task.yield() }
        test.bed.settle()
        store.release.record(())
        await shutDown.value
        #expect(ends.elements == ["writes", "kept", "over"])
        await #expect(throws: Never.self) { try await login.value }
    }

    @Test
    func `observers of consumption see no load of the token endpoint`()
        async
    {
        let test = OAuthBed { configuration, _ in
            configuration.clientAuthentication = .basic(secret: "s+cret")
        }
        await test.logIn()
        test.clock.advance(by: .seconds(3_600))
        _ = await test.load()
        test.bed.settle()
        let seen = test.bed.observer.entries.map(\.response)
        let texts = seen.map { response in
            let sent = response.request.body?.bytes.map { String(decoding: $0, as: UTF8.self) }
            let got = response.body.map { String(decoding: $0, as: UTF8.self) }
            return (sent ?? "") + (got ?? "") + (response.request.headers["Authorization"] ?? "")
        }
        #expect(seen.contains { $0.request.url.path == "/token" })
        #expect(!texts.contains { $0.contains("code_verifier") })
        #expect(!texts.contains { $0.contains("refresh-2") })
        #expect(!texts.contains { $0.contains("Basic ") })
    }

    /// As an API that streams, and issues its tokens itself.
    @Test func `a refresh gets a connection though endless loads have all of the origin`() async {
        let clock = ManualClock()
        let provider = StrictProvider { clock.instant }
        let bed = TestBed(
            otherwise: .run { attempt in
                if attempt.request.url.path == "/stream" {
                    attempt.sendHead(status: 200)
                } else {
                    provider.serve(attempt)
                }
            }, clock: clock)
        var configuration = OAuthConfiguration(
            server: .endpoints(provider.endpoints), flow: .clientCredentials,
            clientIdentifier: "client", hosts: ["auth.test", "origin.test"])
        configuration.clientAuthentication = .basic(secret: "s+cret")
        let authoriser = OAuthAuthoriser(configuration, service: bed.service)
        let factory = bed.service.makeFactory(authorisers: [authoriser])
        let delegate = RecordingDelegate(supportsChunks: true)
        let loader = factory.makeDataLoader(delegate: delegate)
        for _ in 0..<8 {
            loader.perform(.make("/stream", host: "https://auth.test") { $0.chunks = true })
        }
        await eventually {
            bed.transport.attempts.filter { $0.request.url.path == "/stream" }.count == 8
        }
        clock.advance(by: .seconds(3_600))
        loader.perform(
            .make("/other", host: "https://origin.test") { $0.timeout = .seconds(50) })
        await eventually {
            bed.transport.attempts.contains { $0.request.url.path == "/other" }
        }
        #expect(bed.transport.attempts.contains { $0.request.url.path == "/other" })
        loader.cancelAllLoads()
    }

    @Test func `a log-out returns though the browser never comes back from its page`() async {
        let clock = ManualClock()
        let provider = StrictProvider { clock.instant }
        let bed = TestBed(otherwise: .run { provider.serve($0) }, clock: clock)
        var endpoints = provider.endpoints
        endpoints.endSession = provider.endpoint("/bye")
        let delegate = PatientDelegate(provider)
        let authoriser = OAuthAuthoriser(
            OAuthConfiguration(
                server: .endpoints(endpoints),
                flow: .authorizationCode(redirect: OAuthBed.redirect),
                clientIdentifier: "client", hosts: ["origin.test"]),
            service: bed.service, delegate: delegate)
        let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        _ = try? await loader.response(for: .make(host: "https://origin.test"))
        await bed.service.reset()
        _ = await delegate.shown.first(1)
        let other = bed.service.makeFactory().makeDataLoader()
        await #expect(throws: Never.self) {
            try await other.response(for: .make("/x", host: "https://auth.test"))
        }
        delegate.closed.record(())
    }
}

/// A store on a slow disk.
private final class SlowStore: PlainStore {
    let isHeld = Locked(false)
    let ends = EventRecorder<String>()
    let release = EventRecorder<Void>()
    private let kept = Locked<OAuthCredentials?>(nil)

    func load() async -> OAuthCredentials? { kept.withLock { $0 } }

    func write(_ credentials: OAuthCredentials?) async throws {
        if isHeld.withLock({ $0 }) {
            ends.record("writes")
            _ = await release.first(1)
            ends.record("kept")
        }
        kept.withLock { $0 = credentials }
    }
}

/// A person who looks at the last page for as long as the test wants.
private final class PatientDelegate: OAuthDelegate {
    let shown = EventRecorder<URL>()
    let closed = EventRecorder<Void>()
    private let provider: StrictProvider

    init(_ provider: StrictProvider) {
        self.provider = provider
    }

    func logIn(at url: URL) async throws -> URL? { provider.consent(at: url) }

    func logOut(at url: URL) async {
        shown.record(url)
        _ = await closed.first(1)
    }
}
