// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// A log out of several authorisers, one of which takes its time.
@Suite(.timeLimit(.minutes(15))) struct AuthoriserResetTests {
    @Test func `an authoriser that hangs in its reset keeps no other from its own`() async {
        let others = (0..<50).map { TestAuthoriser(identifier: "\($0)") }
        let hanging = HangingAuthoriser()
        let bed = TestBed(authorisers: [hanging] + others)
        let reset = Task { await bed.factory.reset() }
        _ = await hanging.resets.first(1)
        await eventually { others.allSatisfy { $0.calls == [.reset] } }
        // Only the limit of the one that hangs is left.
        await eventually { bed.service.runtime.timerQueue.count == 1 }
        bed.clock.advance(by: LeftBehind.authoriserLimit)
        #expect(await reset.value.authorisers == 1)
        hanging.release.record(())
    }
}

/// An authoriser whose reset returns when the test says so.
private final class HangingAuthoriser: Authoriser {
    let identifier = "hanging"
    let resets = EventRecorder<Void>()
    let release = EventRecorder<Void>()

    func authorise(_ request: DataLoaderRequest) -> Authorisation { .unchanged }

    func reset() async {
        resets.record(())
        _ = await release.first(1)
    }
}
