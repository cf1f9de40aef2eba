// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Cancels every load at the moment at which another authoriser is about to be asked.
private final class Interruption: Authoriser {
    let identifier = "interruption"
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

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        for interrupted in interrupt.elements { interrupted.loader?.cancelAllLoads() }
        next.authorise(request, for: delegate)
    }

    func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {}

    func cancelAuthorisation(of request: DataLoaderRequest) {
        next.cancelAuthorisation(of: request)
    }

    func refresh() {}

    func reset() async {}
}

/// A load that ends between being asked about and being kept.
// OL-05
@Suite struct AbandonedQuestionTests {
    private let fetch = HeldFetch<AccessToken>()
    private let clock = ManualClock()

    private func desk() -> CredentialDesk<AccessToken> {
        let fetch = fetch
        return CredentialDesk(
            CredentialRules(), agenda: Agenda(timekeeper: clock.timekeeper),
            apply: { $1.addBearer($0.value) },
            fetch: { previous, _ in Fetched(try await fetch(previous), lifetime: nil) })
    }

    @Test func `an authoriser does not keep a load that has ended meanwhile`() async {
        let desk = desk()
        let interruption = Interruption(DeskAuthoriser(desk))
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [interruption])
        interruption.cancels(bed.loader)
        bed.loader.perform(.make("/ended"))
        let call = await fetch.call(0)
        _ = await bed.delegate.outcomes(1)
        #expect(desk.heldCount == 0)
        call.answer(AccessToken("1"))
        bed.settle()
        #expect(bed.error == .cancelled)
        #expect(bed.transport.attempts.isEmpty)
    }

    @Test func `a composite asks nobody about a load that has ended meanwhile`() async {
        let part = TestAuthoriser()
        let composite = CompositeAuthoriser([.basic: part])
        let interruption = Interruption(composite)
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [interruption])
        interruption.cancels(bed.loader)
        bed.loader.perform(.make("/ended") { $0[option: AuthenticationMethod.self] = [.basic] })
        _ = await bed.delegate.outcomes(1)
        bed.settle()
        #expect(composite.askedCount == 0)
        #expect(part.calls.isEmpty)
    }

    @Test func `a part of a composite does not keep a load that ends while it is asked`() async {
        let desk = desk()
        let interruption = Interruption(DeskAuthoriser(desk))
        let composite = CompositeAuthoriser([.bearer: interruption])
        let bed = TestBed(otherwise: .respond(status: 200), authorisers: [composite])
        interruption.cancels(bed.loader)
        bed.loader.perform(.make("/ended") { $0[option: AuthenticationMethod.self] = [.bearer] })
        let call = await fetch.call(0)
        _ = await bed.delegate.outcomes(1)
        bed.settle()
        #expect(desk.heldCount == 0)
        call.answer(AccessToken("1"))
        #expect(composite.askedCount == 0)
    }

    @Test func `whoever asks about two requests without a load has two answers`() async {
        let desk = desk()
        let authoriser = DeskAuthoriser(desk)
        let asker = Asker()
        authoriser.authorise(.make("/1"), for: asker)
        authoriser.authorise(.make("/2"), for: asker)
        let held = desk.heldCount
        #expect(held == 2)
        await fetch.call(0).answer(AccessToken("1"))
        #expect(await asker.answers.first(held).map(\.path) == ["/1", "/2"])
    }
}

/// Asks an authoriser without a load, as for a protocol that the library does not speak.
private final class Asker: AuthoriserDelegate {
    let answers = EventRecorder<URL>()

    func authoriser(_ authoriser: any Authoriser, authorised request: DataLoaderRequest) {
        answers.record(request.url)
    }

    func authoriser(
        _ authoriser: any Authoriser, didFailToAuthorise request: DataLoaderRequest,
        error: any Error
    ) {}
}

/// A desk as an authoriser.
private final class DeskAuthoriser: Authoriser {
    let identifier = "desk"
    private let desk: CredentialDesk<AccessToken>

    init(_ desk: CredentialDesk<AccessToken>) {
        self.desk = desk
    }

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        desk.authorise(request, by: self, for: delegate)
    }

    func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {}

    func cancelAuthorisation(of request: DataLoaderRequest) { desk.cancel(request) }

    func refresh() { desk.refresh() }

    func reset() async { await desk.reset() }
}
