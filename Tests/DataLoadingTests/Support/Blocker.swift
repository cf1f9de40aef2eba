// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Dispatch

/// Blocks whoever calls it until the test is over, or too long for a test.
final class Blocker: Sendable {
    private let entries = EventRecorder<Void>()
    private let late = Locked(false)
    private let isReleased = DispatchSemaphore(value: 0)
    private let patience: DispatchTimeInterval

    init(patience: DispatchTimeInterval = .seconds(600)) {
        self.patience = patience
    }

    /// Returns once somebody is blocked.
    func blocks(_ count: Int = 1) async { _ = await entries.first(count) }

    /// Whether somebody was not released in time: what it blocked is what the test waited for.
    var gaveUp: Bool { late.withLock { $0 } }

    func block() {
        entries.record(())
        guard isReleased.wait(timeout: .now() + patience) == .success else {
            return late.withLock { $0 = true }
        }
        isReleased.signal()
    }

    /// Lets everybody go, for good.
    func release() { isReleased.signal() }
}

/// An authoriser one of whose methods blocks.
final class BlockingAuthoriser: Authoriser {
    enum Method: String, CaseIterable, Sendable {
        case requiresAuthorisation, authorise, canRecover, requestFailedAuthorisation
        case cancelAuthorisation
    }

    let identifier = "blocking"
    private let method: Method
    private let blocker: Blocker
    private let kept = EventRecorder<any AuthoriserDelegate>()

    init(_ method: Method, _ blocker: Blocker) {
        self.method = method
        self.blocker = blocker
    }

    /// Returns once it holds a load.
    func holds() async { _ = await kept.first(1) }

    private func enter(_ method: Method) {
        if method == self.method { blocker.block() }
    }

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        enter(.requiresAuthorisation)
        return true
    }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        enter(.authorise)
        guard method != .cancelAuthorisation else { return kept.record(delegate) }
        delegate.authoriser(self, authorised: request)
    }

    func canRecover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        enter(.canRecover)
        return false
    }

    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse) {
        enter(.requestFailedAuthorisation)
    }

    func cancelAuthorisation(of request: DataLoaderRequest) { enter(.cancelAuthorisation) }

    func refresh() {}

    func reset() async {}
}
