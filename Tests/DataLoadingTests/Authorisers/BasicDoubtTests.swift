// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Credentials that one resource does not take, with somebody to ask for others.
@Suite(.timeLimit(.minutes(15))) struct BasicDoubtTests {
    private final class Provider: BasicCredentialsProvider {
        let fetch = HeldFetch<BasicCredentials?>()
        let count = Locked(0)
        let refused = EventRecorder<BasicCredentials>()
        /// What it has, at once; nil for when the test says so.
        let kept: BasicCredentials?

        init(_ kept: BasicCredentials? = nil) {
            self.kept = kept
        }

        func basicCredentials() async throws -> BasicCredentials? {
            count.withLock { $0 += 1 }
            if let kept { return kept }
            return try await fetch(nil)
        }

        func basicCredentialsWereRefused(_ credentials: BasicCredentials) {
            refused.record(credentials)
        }
    }

    private let clock = ManualClock()
    private let ada = Result { try BasicCredentials(username: "ada", password: "pw") }

    private func bed(_ provider: Provider, stored: BasicCredentials? = nil) -> (
        TestBed, BasicAuthoriser
    ) {
        let authoriser = BasicAuthoriser(
            hosts: ["origin.test"], credentials: stored, provider: provider,
            timekeeper: clock.timekeeper)
        let bed = TestBed(
            otherwise: .run { attempt in
                attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
            }, authorisers: [authoriser], clock: clock)
        return (bed, authoriser)
    }

    private func perform(_ bed: TestBed, _ path: String) {
        bed.loader.perform(.make(path, host: "https://origin.test"))
    }

    @Test func `lets good resources be though another always answers 401`() async throws {
        let provider = Provider(try ada.get())
        let (bed, _) = bed(provider)
        for round in 0..<20 {
            perform(bed, "/bad")
            _ = await bed.delegate.outcomes(2 * round + 1)
            #expect(bed.error == .status(.unauthorised))
            perform(bed, "/good")
            _ = await bed.delegate.outcomes(2 * round + 2)
            #expect(bed.error == nil, "round \(round)")
            clock.advance(by: .seconds(3))
        }
        // One for the first, and one each half minute for another: a person may have to answer.
        #expect(provider.count.withLock { $0 } <= 4)
        #expect(provider.refused.elements == [try ada.get()])
    }

    @Test func `credentials that one resource refuses serve the others while nobody answers`()
        async throws
    {
        let provider = Provider()
        let (bed, _) = bed(provider, stored: try ada.get())
        perform(bed, "/bad")
        _ = await provider.fetch.call(0)
        perform(bed, "/good")
        await clock.waitForAlarms(1, within: .seconds(30))
        clock.advance(by: .seconds(30))
        await eventually { bed.delegate.events.filter(\.isTerminal).count == 1 }
        #expect(bed.error == nil)
        await provider.fetch.call(0).answer(nil)
        _ = await bed.delegate.outcomes(2)
        #expect(bed.error == .status(.unauthorised))
    }

    @Test func `asks nobody again for a refresh that brought nothing`() async throws {
        let provider = Provider()
        let (bed, authoriser) = bed(provider, stored: try ada.get())
        authoriser.refresh()
        await provider.fetch.call(0).answer(nil)
        for round in 1...10 {
            perform(bed, "/good")
            _ = await bed.delegate.outcomes(round)
            #expect(bed.error == nil)
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(provider.count.withLock { $0 } == 1)
    }
}
