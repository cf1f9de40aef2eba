// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Cancels every load at the moment at which another authoriser is about to be asked.
private final class Interruption: Authoriser {
    private let next: any Authoriser
    private let interrupt = EventRecorder<Interrupted>()

    /// Weak, as the loader's factory has the authoriser.
    private struct Interrupted: Sendable {
        weak let loader: DataLoader?
    }

    init(_ next: any Authoriser) {
        self.next = next
    }

    /// From now on, the loads of this one.
    func cancels(_ loader: DataLoader) { interrupt.record(Interrupted(loader: loader)) }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        for interrupted in interrupt.elements { interrupted.loader?.cancelAllLoads() }
        return next.authorise(request)
    }
}

/// A load that ends between being asked about and being kept.
// OL-05
@Suite struct AbandonedQuestionTests {
    private let fetch = HeldFetch<AccessToken>()
    private let clock = ManualClock()

    private func authoriser() -> TokenAuthoriser {
        let fetch = fetch
        return TokenAuthoriser(hosts: ["origin.test"], clock: clock) { try await fetch($0) }
    }

    @Test func `an authoriser does not keep a load that has ended meanwhile`() async {
        let token = authoriser()
        let interruption = Interruption(token)
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [interruption])
        interruption.cancels(bed.loader)
        bed.loader.perform(.make("/ended", host: "https://origin.test"))
        _ = await bed.delegate.outcomes(1)
        bed.settle()
        #expect(token.credentials.waiterCount == 0)
        // No load waits for a token, so none is fetched.
        #expect(fetch.count == 0)
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `an authoriser after one that saw the load end is not asked about it`() async {
        let interruption = Interruption(TestAuthoriser())
        let last = TestAuthoriser()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [interruption, last])
        interruption.cancels(bed.loader)
        bed.loader.perform(.make("/ended"))
        _ = await bed.delegate.outcomes(1)
        bed.settle()
        #expect(last.calls.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a load that is cancelled while it waits for a token leaves nothing with it`() async
    {
        let token = authoriser()
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [token])
        let load = bed.loader.perform(.make("/ended", host: "https://origin.test"))
        let call = await fetch.call(0)
        bed.settle()
        #expect(token.credentials.waiterCount == 1)
        load.cancel()
        bed.settle()
        #expect(token.credentials.waiterCount == 0)
        call.answer(AccessToken("1"))
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `an authoriser that is asked about two requests without a load answers both`() async
    {
        let token = authoriser()
        let asked = ["/1", "/2"].map { path in
            Task {
                guard
                    case .later(let body) = token.authorise(
                        .make(path, host: "https://origin.test"))
                else { return String?.none }
                return try await body().url.path
            }
        }
        let call = await fetch.call(0)
        await eventually { token.credentials.waiterCount == 2 }
        call.answer(AccessToken("1"))
        var paths: [String?] = []
        for task in asked { paths.append(try? await task.value) }
        #expect(paths == ["/1", "/2"])
    }
}
