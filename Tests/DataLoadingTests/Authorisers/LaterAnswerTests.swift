// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Authorisers that answer with a function that waits.
@Suite struct LaterAnswerTests {
    private final class Signer: Authoriser {
        let method: AuthenticationMethod?
        let fetch = HeldFetch<String>()
        let cancelled = EventRecorder<Void>()

        init(method: AuthenticationMethod? = nil) {
            self.method = method
        }

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            .later { [fetch, cancelled] in
                try await withTaskCancellationHandler {
                    var signed = request
                    signed.headers["X-Signature"] = try await fetch(nil)
                    return signed
                } onCancel: {
                    cancelled.record(())
                }
            }
        }
    }

    @Test func `a load is sent with what a later answer returns`() async {
        let signer = Signer()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [signer])
        bed.loader.perform(.make())
        await signer.fetch.call(0).answer("s")
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts.map { $0.request.headers["X-Signature"] } == ["s"])
    }

    @Test func `a load ends with what a later answer throws`() async {
        let signer = Signer()
        let bed = TestBed(authorisers: [signer])
        bed.loader.perform(.make())
        await signer.fetch.call(0).fail(TestFailure())
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.error?.underlyingError is TestFailure)
        #expect(end.response?.error == .cannotAuthenticate(reason: "Signer failed: TestFailure"))
    }

    @Test(arguments: [false, true])
    func `a later answer is cancelled with its load`(isNamed: Bool) async {
        let signer = Signer(method: isNamed ? .bearer : nil)
        let bed = TestBed(authorisers: [signer])
        let token = bed.loader.perform(
            .make { $0.authenticationMethods = isNamed ? [.bearer] : [] })
        let call = await signer.fetch.call(0)
        token.cancel()
        _ = await signer.cancelled.first(1)
        call.answer("late")
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `later answers that come at once are sent in the order of their loads`() async {
        let signer = Signer()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [signer])
        for index in 0..<100 { bed.loader.perform(.make("/\(index)")) }
        _ = await signer.fetch.call(99)
        // The last one has asked, and waits from now on like the others.
        bed.settle()
        for index in 0..<100 { await signer.fetch.call(index).answer("s") }
        _ = await bed.delegate.outcomes(100)
        #expect(bed.transport.attempts.map(\.request.url.path) == (0..<100).map { "/\($0)" })
    }
}
