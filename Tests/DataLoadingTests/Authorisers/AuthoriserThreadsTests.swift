// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

@Suite struct AuthoriserThreadsTests {
    enum Kind: CaseIterable, Sendable {
        case token, basic, oauth
    }

    // BA-14, OL-04, OM-23; run under the thread sanitizer too.
    @Test(arguments: Kind.allCases)
    func `each question is answered once whichever tasks ask, refuse, cancel and reset`(
        kind: Kind
    ) async throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let provider = StrictProvider { bed.clock.instant }
        let authoriser = authoriser(kind, bed, provider)
        let tasks = 8
        let rounds = 200
        let answers = await withTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(task) &+ 1)
                    var answers = 0
                    for round in 0..<rounds {
                        let request = DataLoaderRequest.make(
                            "/\(round)", host: "https://origin.test")
                        let event = Int.random(in: 0..<4, using: &generator)
                        let asking = Task { try await authoriser.answer(to: request) }
                        if event == 0 { asking.cancel() }
                        let answer = await asking.result
                        answers += 1
                        if event == 1 { bed.clock.advance(by: .seconds(1)) }
                        if event == 2, round % 50 == 0 { await authoriser.reset() }
                        guard event == 3, let sent = try? answer.get() else { continue }
                        _ = authoriser.recover(
                            sent, from: DataLoaderResponse(request: sent, statusCode: .unauthorised)
                        )
                    }
                    return answers
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answers == tasks * rounds)
        await authoriser.reset()
    }

    private func authoriser(
        _ kind: Kind, _ bed: TestBed, _ provider: StrictProvider
    ) -> any Authoriser {
        let hosts: Set<String> = ["origin.test"]
        switch kind {
        case .token:
            return TokenAuthoriser(hosts: hosts, clock: bed.clock) { _ in
                AccessToken("t", lifetime: .seconds(20))
            }
        case .basic:
            return BasicAuthoriser(hosts: hosts) { _ in
                try BasicCredentials(username: "ada", password: "pw")
            }
        case .oauth:
            let service = TestBed(otherwise: .run { provider.serve($0) }, clock: bed.clock).service
            var configuration = OAuthConfiguration(
                server: .endpoints(provider.endpoints), flow: .clientCredentials,
                clientIdentifier: "client", hosts: hosts)
            configuration.clientAuthentication = .basic(secret: "s+cret")
            return OAuthAuthoriser(configuration, service: service)
        }
    }

    // A load that asks after a fetch has ended must not be held by it.
    @Test(arguments: [true, false])
    func `a question that is asked inside an answer is answered at once`(succeeds: Bool) async {
        let clock = ManualClock()
        let fetch = HeldFetch<AccessToken>()
        let authoriser = TokenAuthoriser(
            hosts: ["origin.test"], timekeeper: clock.timekeeper,
            random: RandomSource(SeededGenerator(seed: 1)), fetch: { try await fetch($0) })
        let asking = (0..<2).map { number in
            Task {
                _ = try? await authoriser.answer(
                    to: .make("/\(number)", host: "https://origin.test"))
                switch authoriser.authorise(.make("/inner", host: "https://origin.test")) {
                case .use: return succeeds
                case .refuse: return !succeeds
                case .unchanged, .later: return false
                }
            }
        }
        let call = await fetch.call(0)
        if succeeds { call.answer(AccessToken("t")) } else { call.fail(TestFailure()) }
        for task in asking { #expect(await task.value) }
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

    // The thread of the timers serves every load of the process.
    @Test func `loads that a timer lets go on do so on the queue of their factory`() async throws {
        let clock = ManualClock()
        let factory = Locked<DataLoaderFactory?>(nil)
        let seen = EventRecorder<Bool>()
        let questions = HeldFetch<BasicCredentials?>()
        let ada = try BasicCredentials(username: "ada", password: "pw")
        let basic = BasicAuthoriser(
            hosts: ["origin.test"], credentials: ada, timekeeper: clock.timekeeper,
            fetch: { try await questions($0) })
        let witness = TestAuthoriser(
            requires: { $0.url.path == "/good" },
            onCall: { _ in seen.record(factory.withLock { $0 }?.context.isOnQueue ?? false) })
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
            }, authorisers: [basic, witness], clock: clock)
        factory.withLock { $0 = bed.factory }
        bed.loader.perform(.make("/bad", host: "https://origin.test"))
        let question = await questions.call(0)
        bed.loader.perform(.make("/good", host: "https://origin.test"))
        bed.settle()
        #expect(seen.elements.isEmpty)
        await clock.waitForAlarms(1, within: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(await seen.first(1) == [true])
        question.answer(nil)
        _ = await bed.delegate.outcomes(2)
        factory.withLock { $0 = nil }
    }

    // A server that does not answer must not let a queue grow without end.
    @Test func `a load ends as overloaded when ten thousand wait for a token`() async {
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
