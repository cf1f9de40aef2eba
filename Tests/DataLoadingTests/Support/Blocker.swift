// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Dispatch

/// Blocks its callers until the test releases them or a time limit passes.
final class Blocker: Sendable {
    private let entries = EventRecorder<Void>()
    private let late = Locked(false)
    private let isReleased = DispatchSemaphore(value: 0)
    private let patience: DispatchTimeInterval

    init(patience: DispatchTimeInterval = .seconds(600)) {
        self.patience = patience
    }

    /// Returns once a caller is blocked.
    func blocks(_ count: Int = 1) async { _ = await entries.first(count) }

    /// Whether a caller was not released in time, because the test waited for what it blocked.
    var gaveUp: Bool { late.withLock { $0 } }

    func block() {
        entries.record(())
        guard isReleased.wait(timeout: .now() + patience) == .success else {
            return late.withLock { $0 = true }
        }
        isReleased.signal()
    }

    /// Releases all callers, also later ones.
    func release() { isReleased.signal() }
}

/// An authoriser one of whose methods blocks, or the end of a wait for it.
final class BlockingAuthoriser: Authoriser {
    enum Method: Sendable {
        case authorise, later, recover, cancel
    }

    private let blocks: Method
    private let blocker: Blocker
    private let kept = EventRecorder<HeldQuestion>()

    init(_ blocks: Method, _ blocker: Blocker) {
        self.blocks = blocks
        self.blocker = blocker
    }

    /// Returns once it holds a load.
    func holds() async { _ = await kept.first(1) }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        switch blocks {
        case .authorise:
            blocker.block()
            return .use(request)
        case .later:
            return .later { [blocker] in
                blocker.block()
                return request
            }
        case .recover: return .use(request)
        case .cancel:
            let question = HeldQuestion(request)
            kept.record(question)
            return question.authorisation { [blocker] in blocker.block() }
        }
    }

    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        if case .recover = blocks { blocker.block() }
        return false
    }
}
