// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The state of a round: the loads still to start, the failures, and the end.
final class Round: Sendable {
    private let requests: Int
    private let started = Atomic(0)
    private let ended = Atomic(0)
    private let failed = Atomic(0)
    private let continuation = Mutex<CheckedContinuation<Int, Never>?>(nil)

    /// Makes a round whose loads are started by the caller.
    init(_ requests: Int, started: Int = 0) {
        self.requests = requests
        self.started.store(started, ordering: .relaxed)
    }

    /// Starts the first loads and returns the number of failures once all have ended.
    func run(_ concurrency: Int, start: @Sendable () -> Void) async -> Int {
        await waitForAll {
            let first = min(concurrency, requests)
            started.store(first, ordering: .relaxed)
            for _ in 0..<first { start() }
        }
    }

    /// Runs the body and returns the number of failures once all loads have ended.
    func waitForAll(after body: @Sendable () -> Void) async -> Int {
        await withCheckedContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            body()
        }
    }

    /// Notes the end of a load; returns true when another load is to follow.
    func endedOne(isFailure: Bool) -> Bool {
        if isFailure { failed.add(1, ordering: .relaxed) }
        if ended.add(1, ordering: .acquiringAndReleasing).newValue == requests {
            let continuation = continuation.withLock { $0.take() }
            continuation?.resume(returning: failed.load(ordering: .relaxed))
        }
        return started.add(1, ordering: .relaxed).newValue <= requests
    }
}
