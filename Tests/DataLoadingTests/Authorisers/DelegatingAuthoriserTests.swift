// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Authorisers in the predecessor's form, which answer a delegate.
@Suite struct DelegatingAuthoriserTests {
    private typealias Question = (
        request: DataLoaderRequest, delegate: DelegatingAuthoriser.Delegate
    )

    private struct Refusal: Error {}

    private let questions = EventRecorder<Question>()
    private let refused = EventRecorder<String>()

    private func authoriser(recovers: Bool = false) -> DelegatingAuthoriser {
        let questions = questions
        let refused = refused
        return DelegatingAuthoriser(
            identifier: "session",
            recover: { request, response in
                refused.record("\(request.url.path) \(response.statusCode?.rawValue ?? 0)")
                return recovers
            },
            authorise: { questions.record(($0, $1)) })
    }

    private func grant(_ question: Question, _ value: String) {
        var authorised = question.request
        authorised.headers["Authorization"] = value
        question.delegate.authorised(authorised)
    }

    @Test func `a load is sent with the first answer of its delegate`() async {
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser()])
        bed.loader.perform(.make())
        let question = await questions.first(1)[0]
        bed.settle()
        #expect(bed.transport.attempts.isEmpty)
        grant(question, "1")
        grant(question, "2")
        question.delegate.failed(Refusal())
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == nil)
        #expect(bed.transport.attempts.map { $0.request.headers["Authorization"] } == ["1"])
    }

    @Test func `a load ends with the reason that the delegate is told`() async {
        let bed = TestBed(authorisers: [authoriser()])
        bed.loader.perform(.make())
        await questions.first(1)[0].delegate.failed(Refusal())
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.error?.underlyingError is Refusal)
        #expect(bed.error == .cannotAuthenticate(reason: "session failed: Refusal"))
    }

    @Test func `a 401 is told to the function that was given, which may have it sent once more`()
        async
    {
        let bed = TestBed(
            [.respond(status: 401)], otherwise: .respond(status: 200),
            authorisers: [authoriser(recovers: true)])
        bed.loader.perform(.make("/x"))
        for index in 0..<2 { grant(await questions.first(index + 1)[index], "\(index)") }
        _ = await bed.delegate.outcomes(1)
        #expect(bed.error == nil)
        #expect(refused.elements == ["/x 401"])
        #expect(bed.transport.attempts.map { $0.request.headers["Authorization"] } == ["0", "1"])
    }

    @Test func `an answer to a load that was cancelled does nothing`() async {
        let bed = TestBed(authorisers: [authoriser()])
        let token = bed.loader.perform(.make())
        let question = await questions.first(1)[0]
        token.cancel()
        bed.settle()
        grant(question, "late")
        bed.settle()
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a reset calls the function that was given`() async {
        let resets = Locked(0)
        let authoriser = DelegatingAuthoriser(
            identifier: "session", reset: { resets.withLock { $0 += 1 } },
            authorise: { $1.authorised($0) })
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [authoriser])
        await bed.factory.reset()
        #expect(resets.withLock { $0 } == 1)
    }
}
