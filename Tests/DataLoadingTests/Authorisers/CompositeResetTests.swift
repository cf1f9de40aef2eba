// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

/// A log out of several authorisers, one of which takes its time.
@Suite(.timeLimit(.minutes(15))) struct CompositeResetTests {
    @Test func `one that hangs in its reset keeps no other from its own`() async {
        // More than two: whoever comes first in a dictionary does so by chance.
        let others = (0..<50).map { TestAuthoriser(identifier: "\($0)") }
        let hanging = HangingAuthoriser()
        var methods: [AuthenticationMethod: any Authoriser] = [.basic: hanging]
        for other in others {
            methods[AuthenticationMethod(rawValue: other.identifier)] = other
        }
        let bed = TestBed(authorisers: [CompositeAuthoriser(methods)])
        let reset = Task { await bed.factory.reset() }
        _ = await hanging.resets.first(1)
        await eventually { others.allSatisfy { $0.calls == [.reset] } }
        await bed.clock.waitForAlarms(1, within: LeftBehind.authoriserLimit)
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

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { false }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        delegate.authoriser(self, authorised: request)
    }

    func requestFailedAuthorisation(_: DataLoaderRequest, response: DataLoaderResponse) {}

    func refresh() {}

    func reset() async {
        resets.record(())
        _ = await release.first(1)
    }
}
