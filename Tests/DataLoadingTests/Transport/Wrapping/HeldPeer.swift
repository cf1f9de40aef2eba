// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTesting
@testable import DataLoadingTransport

/// A peer that answers with an empty 200 once it is let go, and its clock.
struct HeldPeer {
    let clock = ManualClock()
    /// The attempts that have reached it.
    let asked = EventRecorder<Void>()
    let transport: PeerTransport
    private let go = EventRecorder<Void>()

    init() {
        let (asked, go) = (asked, go)
        transport = PeerTransport(timekeeper: ManualTimekeeper(clock: clock)) { _ in
            asked.record(())
            _ = await go.first(1)
            return PeerResponse(ResponseHead(status: .ok))
        }
    }

    func letGo() { go.record(()) }
}
