// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport

/// The attempts of one session by the number of their task, and those that have not ended.
final class URLSessionAttempts: Sendable {
    private struct State {
        /// By the session's task number; only these attempts receive the session's events.
        var byTask: [Int: URLSessionAttempt] = [:]
        /// The started attempts whose sink has not received the end.
        var running: [ObjectIdentifier: URLSessionAttempt] = [:]
        var begun = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func begin(_ attempt: URLSessionAttempt) {
        state.withLock { state in
            state.running[ObjectIdentifier(attempt)] = attempt
            state.begun &+= 1
        }
    }

    /// The number of attempts so far.
    var begun: Int { state.withLock { $0.begun } }

    func add(_ attempt: URLSessionAttempt, for task: Int) {
        state.withLock { $0.byTask[task] = attempt }
    }

    /// Returns the attempt of a task; nil when it is unknown or was unregistered.
    func attempt(for task: Int) -> URLSessionAttempt? {
        state.withLock { $0.byTask[task] }
    }

    /// Unregisters a task, whose later events are dropped.
    func forget(_ task: Int) {
        _ = state.withLock { $0.byTask.removeValue(forKey: task) }
    }

    /// Stops every running attempt.
    func stopAll(_ error: DataLoaderError) {
        let running = state.withLock { Array($0.running.values) }
        for attempt in running { attempt.stop(error) }
    }

    /// Notes that the sink of an attempt has received the end.
    func ended(_ attempt: URLSessionAttempt) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running[ObjectIdentifier(attempt)] = nil
            guard state.running.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no attempt is running.
    func waitUntilEmpty() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isEmpty = state.withLock { state in
                if !state.running.isEmpty { state.waiters.append(continuation) }
                return state.running.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
