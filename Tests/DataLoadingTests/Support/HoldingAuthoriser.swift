// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// An authoriser that answers when the test says so.
final class HoldingAuthoriser: Authoriser {
    let identifier = "holding"
    private let holds = EventRecorder<(DataLoaderRequest, any AuthoriserDelegate)>()
    private let answered = Locked(0)

    /// Returns once it holds, or has held, so many requests.
    func held(_ count: Int) async { _ = await holds.first(count) }

    /// Authorises whatever it holds.
    func answerAll() {
        let all = holds.elements
        let first = answered.withLock { answered in
            defer { answered = all.count }
            return answered
        }
        for (request, delegate) in all[first...] {
            delegate.authoriser(self, authorised: request)
        }
    }

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        holds.record((request, delegate))
    }

    func requestFailedAuthorisation(_: DataLoaderRequest, response: DataLoaderResponse) {}

    func refresh() {}

    func reset() async {}
}
