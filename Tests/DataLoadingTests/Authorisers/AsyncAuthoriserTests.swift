// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite struct AsyncAuthoriserTests {
    private final class Signer: AsyncAuthoriser {
        let identifier = "signer"
        let fetch = HeldFetch<String>()
        let cancelled = EventRecorder<Void>()

        func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }

        func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
            try await withTaskCancellationHandler {
                var signed = request
                signed.headers["X-Signature"] = try await fetch(nil)
                return signed
            } onCancel: {
                cancelled.record(())
            }
        }

        func reset() async {}
    }

    @Test func `answers with what its function returns`() async {
        let signer = Signer()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [signer])
        bed.loader.perform(.make())
        await signer.fetch.call(0).answer("s")
        _ = await bed.delegate.outcomes(1)
        #expect(bed.transport.attempts.map { $0.request.headers["X-Signature"] } == ["s"])
    }

    @Test func `refuses with what it throws`() async {
        let signer = Signer()
        let bed = TestBed(authorisers: [signer])
        bed.loader.perform(.make())
        await signer.fetch.call(0).fail(TestFailure())
        let end = await bed.delegate.outcomes(1)[0]
        #expect(end.response?.underlyingError is TestFailure)
        #expect(end.response?.error == .cannotAuthenticate(reason: "signer refused: TestFailure"))
    }

    @Test(arguments: [false, true])
    func `is cancelled with its load`(isInComposite: Bool) async {
        let signer = Signer()
        let authoriser: any Authoriser =
            isInComposite ? CompositeAuthoriser([.bearer: signer]) : signer
        let bed = TestBed(authorisers: [authoriser])
        let token = bed.loader.perform(
            .make { $0[option: AuthenticationMethod.self] = isInComposite ? [.bearer] : [] })
        let call = await signer.fetch.call(0)
        token.cancel()
        _ = await signer.cancelled.first(1)
        call.answer("late")
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }
}
