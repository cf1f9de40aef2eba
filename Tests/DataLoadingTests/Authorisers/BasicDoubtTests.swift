// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// Credentials that one resource does not take, with somebody to ask for others.
@Suite(.timeLimit(.minutes(15))) struct BasicDoubtTests {
    /// Gives what it has, at once, or when the test says so.
    private final class Source: Sendable {
        let fetch = HeldFetch<BasicCredentials?>()
        let refused = EventRecorder<BasicCredentials?>()
        private let kept: BasicCredentials?

        init(_ kept: BasicCredentials? = nil) {
            self.kept = kept
        }

        func credentials(insteadOf refused: BasicCredentials?) async throws -> BasicCredentials? {
            self.refused.record(refused)
            if let kept { return kept }
            return try await fetch(refused)
        }
    }

    private let clock = ManualClock()
    private let ada = Result { try BasicCredentials(username: "ada", password: "pw") }

    private func bed(_ source: Source, stored: BasicCredentials? = nil) -> TestBed {
        let authoriser = BasicAuthoriser(
            hosts: ["origin.test"], credentials: stored, timekeeper: clock.timekeeper,
            fetch: { try await source.credentials(insteadOf: $0) })
        return TestBed(
            otherwise: .run { attempt in
                attempt.respond(status: attempt.request.url.path == "/bad" ? 401 : 200)
            }, authorisers: [authoriser], clock: clock)
    }

    private func perform(_ bed: TestBed, _ path: String) {
        bed.loader.perform(.make(path, host: "https://origin.test"))
    }

    @Test func `loads of good resources succeed though another resource always answers 401`()
        async throws
    {
        let source = Source(try ada.get())
        let bed = bed(source)
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
        let calls = source.refused.elements
        #expect(calls.count <= 4)
        #expect(calls == [nil] + Array(repeating: try ada.get(), count: calls.count - 1))
    }

    @Test func `credentials that one resource refuses serve the others until there is an answer`()
        async throws
    {
        let source = Source()
        let bed = bed(source, stored: try ada.get())
        perform(bed, "/bad")
        _ = await source.fetch.call(0)
        perform(bed, "/good")
        await clock.waitForAlarms(1, within: .seconds(30))
        clock.advance(by: .seconds(30))
        await eventually { bed.delegate.events.filter(\.isTerminal).count == 1 }
        #expect(bed.error == nil)
        await source.fetch.call(0).answer(nil)
        _ = await bed.delegate.outcomes(2)
        #expect(bed.error == .status(.unauthorised))
    }
}
