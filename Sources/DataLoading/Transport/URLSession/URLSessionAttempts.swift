// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || URLSession
    /// The attempts of one session: by the number of their task, and how many are not yet at their end.
    final class URLSessionAttempts: Sendable {
        private struct State {
            /// By the session's number; only these hear of what the session does.
            var byTask: [Int: URLSessionAttempt] = [:]
            /// Everything that was begun and whose sink has not heard its end.
            var running: [ObjectIdentifier: URLSessionAttempt] = [:]
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Locked(State())

        func begin(_ attempt: URLSessionAttempt) {
            state.withLock { $0.running[ObjectIdentifier(attempt)] = attempt }
        }

        func add(_ attempt: URLSessionAttempt, for task: Int) {
            state.withLock { $0.byTask[task] = attempt }
        }

        /// The attempt that a task works for; nil for one that is not, or no longer, known.
        func attempt(for task: Int) -> URLSessionAttempt? {
            state.withLock { $0.byTask[task] }
        }

        /// Hears nothing of a task from now on.
        func forget(_ task: Int) {
            _ = state.withLock { $0.byTask.removeValue(forKey: task) }
        }

        /// Stops everything that runs.
        func stopAll(_ error: DataLoaderError) {
            let running = state.withLock { Array($0.running.values) }
            for attempt in running { attempt.stop(error) }
        }

        /// The sink of an attempt has heard its end.
        func ended(_ attempt: URLSessionAttempt) {
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.running[ObjectIdentifier(attempt)] = nil
                guard state.running.isEmpty else { return [] }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Returns when nothing runs.
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
#endif
