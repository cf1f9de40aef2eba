// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// Counts the answers to one question, and may ask again inside the first.
private final class Counter: AuthoriserDelegate {
    let answers = Locked(0)
    let request = Locked<DataLoaderRequest?>(nil)
    private let first: @Sendable () -> Void

    init(first: @escaping @Sendable () -> Void = {}) {
        self.first = first
    }

    func authoriser(_ authoriser: any Authoriser, authorised request: DataLoaderRequest) {
        self.request.withLock { $0 = request }
        count()
    }

    func authoriser(
        _ authoriser: any Authoriser, didFailToAuthorise request: DataLoaderRequest,
        error: any Error
    ) {
        count()
    }

    private func count() {
        let isFirst = answers.withLock { answers in
            answers += 1
            return answers == 1
        }
        if isFirst { first() }
    }
}

private final class Passwords: BasicCredentialsProvider {
    func basicCredentials() async throws -> BasicCredentials? {
        try BasicCredentials(username: "ada", password: "pw")
    }
}

@Suite struct AuthoriserThreadsTests {
    enum Kind: CaseIterable, Sendable {
        case token, basic, oauth, composite
    }

    // BA-14, OL-04, OM-23; run under the thread sanitizer too.
    @Test(arguments: Kind.allCases)
    func `each question is answered once whichever threads ask, refuse, refresh and cancel`(
        kind: Kind
    ) async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let passwords = Passwords()
        let provider = StrictProvider { bed.clock.instant }
        let authoriser = authoriser(kind, bed, passwords, provider)
        let threads = 8
        let counters = Locked<[Counter]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var generator = SeededGenerator(seed: UInt64(thread) &+ 1)
            for index in 0..<200 {
                let counter = Counter()
                counters.withLock { $0.append(counter) }
                var request = DataLoaderRequest.make("/\(index)", host: "https://origin.test")
                request[option: AuthenticationMethod.self] = kind == .composite ? [.bearer] : []
                authoriser.authorise(request, for: counter)
                guard let sent = counter.request.withLock({ $0 }) else { continue }
                let refusal = DataLoaderResponse(request: sent, statusCode: .unauthorised)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0:
                    if authoriser.canRecover(sent, from: refusal) {
                        authoriser.requestFailedAuthorisation(sent, response: refusal)
                    }
                case 1: authoriser.refresh()
                case 2: authoriser.cancelAuthorisation(of: sent)
                case 3: bed.clock.advance(by: .seconds(1))
                default: _ = authoriser.requiresAuthorisation(sent)
                }
            }
        }
        await authoriser.reset()
        let answers = counters.withLock { $0.map { $0.answers.withLock { $0 } } }
        #expect(answers == Array(repeating: 1, count: threads * 200))
        withExtendedLifetime(passwords) {}
    }

    private func authoriser(
        _ kind: Kind, _ bed: TestBed, _ passwords: Passwords, _ provider: StrictProvider
    ) -> any Authoriser {
        let hosts: Set<String> = ["origin.test"]
        let token = TokenAuthoriser(hosts: hosts, clock: bed.clock) { _ in
            AccessToken("t", lifetime: .seconds(20))
        }
        switch kind {
        case .token: return token
        case .basic: return BasicAuthoriser(hosts: hosts, provider: passwords)
        case .composite: return CompositeAuthoriser([.bearer: token])
        case .oauth:
            let service = TestBed(otherwise: .run { provider.serve($0) }, clock: bed.clock).service
            var configuration = OAuthConfiguration(
                server: .endpoints(provider.endpoints), flow: .clientCredentials,
                clientIdentifier: "client", hosts: hosts)
            configuration.clientAuthentication = .basic(secret: "s+cret")
            return OAuthAuthoriser(configuration, service: service)
        }
    }

    // OL-12: a completion that asks again must not be held by what has ended already.
    @Test(arguments: [true, false])
    func `a question that is asked inside an answer is answered at once`(succeeds: Bool) async {
        let clock = ManualClock()
        let fetch = HeldFetch<AccessToken>()
        let authoriser = TokenAuthoriser(
            hosts: ["origin.test"], timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: 1)), fetch: { try await fetch($0) })
        let inner = Counter()
        let answered = Locked<[Int]>([])
        let outer = Counter {
            authoriser.authorise(.make("/inner", host: "https://origin.test"), for: inner)
            answered.withLock { $0.append(inner.answers.withLock { $0 }) }
        }
        // One that waits behind it is answered as well.
        let other = Counter()
        authoriser.authorise(.make("/outer", host: "https://origin.test"), for: outer)
        authoriser.authorise(.make("/other", host: "https://origin.test"), for: other)
        let call = await fetch.call(0)
        if succeeds { call.answer(AccessToken("t")) } else { call.fail(TestFailure()) }
        await eventually {
            other.answers.withLock { $0 } == 1 && !answered.withLock { $0 }.isEmpty
        }
        #expect(answered.withLock { $0 } == [1])
        #expect(outer.answers.withLock { $0 } == 1)
        #expect(fetch.count == 1)
    }

    // OL-12, as a user meets it.
    @Test func `a load that its predecessor's end performs is authorised and sent`() async throws {
        let test = TokenBed()
        let loader = test.bed.factory.makeDataLoader()
        let second = EventRecorder<DataLoaderError?>()
        loader.request(testURL("https://origin.test/1"), sourceIdentifier: nil).responseData { _ in
            loader.request(testURL("https://origin.test/2"), sourceIdentifier: nil)
                .responseData { second.record($0.error as? DataLoaderError) }
        }
        await test.fetch.call(0).answer(AccessToken("1"))
        #expect(await second.first(1) == [nil])
        #expect(test.sent == ["Bearer 1", "Bearer 1"])
        #expect(test.fetch.count == 1)
    }

    // A server that does not answer must not let a queue grow without end.
    @Test func `past ten thousand loads that wait for a token the next one ends overloaded`() async
    {
        let test = TokenBed()
        let loader = test.bed.factory.makeDataLoader(delegate: test.bed.delegate)
        for index in 0..<10_000 {
            loader.perform(.make("/\(index)", host: "https://origin.test"))
        }
        loader.perform(.make("/late", host: "https://origin.test"))
        let end = await test.bed.delegate.outcomes(1)[0]
        #expect(end.response?.error == .overloaded)
        #expect(end.response?.request.url.path == "/late")
        loader.cancelAllLoads()
        _ = await test.bed.delegate.outcomes(10_001)
        await test.fetch.call(0).fail(CancellationError())
    }
}
