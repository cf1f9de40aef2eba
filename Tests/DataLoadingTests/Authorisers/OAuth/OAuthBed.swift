// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// Loads that an `OAuthAuthoriser` authorises, with a provider and a resource on one transport.
final class OAuthBed: Sendable {
    /// A person at a browser, who does as the test says.
    final class Person: OAuthDelegate {
        let pages = HeldFetch<URL?>()
        let asked = EventRecorder<URL>()
        let codes = EventRecorder<DeviceCode>()
        let loggedOut = EventRecorder<URL>()
        let complaints = EventRecorder<any Error>()
        let unrevoked = EventRecorder<any Error>()

        func logIn(at url: URL) async throws -> URL? {
            asked.record(url)
            return try await pages(nil)
        }

        func show(_ code: DeviceCode) async throws { codes.record(code) }

        func logOut(at url: URL) async { loggedOut.record(url) }

        func couldNotKeepCredentials(_ error: any Error) { complaints.record(error) }

        func couldNotRevokeCredentials(_ error: any Error) { unrevoked.record(error) }
    }

    static let redirect = testURL("http://127.0.0.1:7777/callback")

    let clock = ManualClock()
    let provider: StrictProvider
    let person = Person()
    let store: any OAuthCredentialStore
    let bed: TestBed
    let authoriser: OAuthAuthoriser
    let loader: DataLoader
    let factory: DataLoaderFactory
    let delegate = RecordingDelegate()
    /// Whether the clock continues normally after the bed is gone.
    let goesOn = Locked(false)

    init(
        _ flow: OAuthConfiguration.Flow = .authorizationCode(redirect: redirect),
        lifetime: Duration = .seconds(3_600),
        store: any OAuthCredentialStore = MemoryCredentialStore(),
        _ configure: (inout OAuthConfiguration, StrictProvider) -> Void = { _, _ in }
    ) {
        let clock = clock
        let provider = StrictProvider(lifetime: lifetime) { clock.instant }
        self.provider = provider
        self.store = store
        bed = TestBed(otherwise: .run { provider.serve($0) }, clock: clock) { configuration in
            configuration.limits.perOrigin = 1_000
            configuration.limits.total = 1_000
        }
        var configuration = OAuthConfiguration(
            server: .endpoints(provider.endpoints), flow: flow, clientIdentifier: "client",
            hosts: ["origin.test"])
        configure(&configuration, provider)
        authoriser = OAuthAuthoriser(
            configuration, service: bed.service, store: store, delegate: person)
        factory = bed.service.makeFactory(authorisers: [authoriser])
        loader = factory.makeDataLoader(delegate: delegate)
    }

    deinit {
        // What is still tried again for a store is given up, unless the test waits for it.
        if !goesOn.withLock({ $0 }) { clock.advance(by: .seconds(7_200)) }
    }

    @discardableResult
    func perform(_ count: Int = 1) -> [CancellationToken] {
        (0..<count).map { perform("/\($0)") }
    }

    @discardableResult
    func perform(_ path: String) -> CancellationToken {
        loader.perform(.make(path, host: "https://origin.test"))
    }

    /// Performs a load and returns how it ended.
    func load() async -> DataLoaderResponse? {
        let ended = delegate.events.filter(\.isTerminal).count
        perform()
        return await delegate.outcomes(ended + 1)[ended].response
    }

    /// The outcomes of all loads so far, of which there are so many.
    func ends(_ count: Int) async -> [DataLoaderResponse?] {
        await delegate.outcomes(count).map(\.response)
    }

    /// Sees the person through a login.
    func consent(_ index: Int = 0) async {
        let page = await person.asked.first(index + 1)[index]
        await person.pages.call(index).answer(provider.consent(at: page))
    }

    /// Performs a load that begins a login, and sees the person through it.
    func logIn() async {
        perform()
        await consent()
        _ = await ends(1)
    }

    /// What another process gets for what is stored.
    func refreshElsewhere() async throws -> OAuthCredentials {
        let stored = try #require(try await store.load())
        let answer = provider.answer(
            .init(
                method: "POST", path: "/token", authorization: nil,
                contentType: "application/x-www-form-urlencoded",
                form: [
                    "grant_type": "refresh_token", "client_id": "client",
                    "refresh_token": stored.refreshToken ?? "",
                ]))
        return try TokenAnswer.credentials(
            DataLoaderResponse(request: .make(), statusCode: .ok, body: answer.json),
            previous: nil, received: clock.date)
    }

    /// Returns once the person was asked so often, or so many loads have ended.
    func untilAsked(_ asked: Int, orEnded ended: Int) async {
        await eventually {
            person.asked.elements.count == asked
                || delegate.events.filter(\.isTerminal).count == ended
        }
    }

    /// Returns once a timer is due within a duration.
    ///
    /// The clock's alarms do not say that: the alarm of a cancelled timer stays until it is due, as
    /// that of the second for which a reset waits for its queue.
    func untilTimer(within duration: Duration) async {
        let timers = bed.service.runtime.timerQueue
        await eventually { timers.earliest.map { $0 - timers.now <= duration } ?? false }
    }

    /// The `Authorization` fields that the resource has seen.
    var sent: [String?] {
        bed.transport.attempts.filter { $0.request.url.host == "origin.test" }
            .map { $0.request.headers["Authorization"] }
    }

    func expectNoViolation(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(provider.violations == [], sourceLocation: sourceLocation)
    }
}

extension StrictProvider {
    /// Answers an attempt: as the provider, or as a resource that takes its tokens.
    func serve(_ attempt: ScriptedAttempt) {
        let request = attempt.request
        guard request.url.host == "auth.test" else {
            let token = (request.headers["Authorization"] ?? "").dropFirst(7)
            // A resource that refuses every token.
            return accepts(String(token)) && request.url.path != "/bad"
                ? attempt.respond(status: 200)
                : attempt.respond(
                    status: 401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        }
        let body = String(decoding: attempt.takeBody() ?? Data(), as: UTF8.self)
        let answer = answer(
            Question(
                method: request.method.rawValue, path: request.url.path,
                authorization: request.headers["Authorization"],
                contentType: request.headers["Content-Type"],
                form: (try? FormDecoding.decode(Substring(body))) ?? [:]))
        attempt.respond(status: answer.status, body: answer.json)
    }
}
