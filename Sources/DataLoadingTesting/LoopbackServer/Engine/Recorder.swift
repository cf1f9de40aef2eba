// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Records what a server received, and wakes tasks that wait for it.
final class Recorder: Sendable {
    /// An event that a task can wait for by count.
    enum Milestone: Hashable {
        case heads, requests, connections, closedConnections
    }

    struct State {
        var requests: RecordLog<RecordedRequest>
        var connections: RecordLog<RecordedConnection>
        var counts: [Milestone: Int] = [:]
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var isFinished = false
    }

    struct Waiter {
        let milestone: Milestone
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private let timekeeper = SystemTimekeeper()
    private let start: Instant
    private let state: Locked<State>

    init(requestLimit: Int, connectionLimit: Int) {
        start = timekeeper.now
        state = Locked(
            State(
                requests: RecordLog(limit: requestLimit),
                connections: RecordLog(limit: connectionLimit)))
    }

    /// The time since the start of the server.
    var now: Duration { timekeeper.now - start }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    func count(of milestone: Milestone) -> Int {
        read { $0.counts[milestone] ?? 0 }
    }

    /// Changes the records; counts a milestone, if given, and resumes the tasks that waited for it.
    @discardableResult
    func record<Result: Sendable>(
        reaching milestone: Milestone? = nil, _ change: (inout State) -> Result
    ) -> Result {
        let (result, reached) = state.withLock { state -> (Result, [Waiter]) in
            let result = change(&state)
            guard let milestone else { return (result, []) }
            state.counts[milestone, default: 0] += 1
            return (result, state.takeReachedWaiters())
        }
        for waiter in reached { waiter.continuation.resume() }
        return result
    }

    /// Resumes every waiting task, now and later: nothing more will be recorded.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.takeReachedWaiters()
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns when a count is reached, the task is cancelled or the server stopped.
    func wait(for count: Int, _ milestone: Milestone) async {
        let ticket = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(
                    milestone: milestone, count: count, continuation: continuation)
                // Checked inside the lock, so that the handler below cannot run in between.
                let mayReturn = state.withLock { state in
                    if Task.isCancelled || state.isReached(waiter) {
                        return true
                    }
                    state.waiters[ticket] = waiter
                    return false
                }
                if mayReturn { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
            waiter?.continuation.resume()
        }
    }
}

extension Recorder.State {
    /// Whether a waiter can be resumed.
    func isReached(_ waiter: Recorder.Waiter) -> Bool {
        isFinished || (counts[waiter.milestone] ?? 0) >= waiter.count
    }

    mutating func takeReachedWaiters() -> [Recorder.Waiter] {
        guard !waiters.isEmpty else { return [] }
        let reached = waiters.filter { isReached($0.value) }
        for ticket in reached.keys { waiters[ticket] = nil }
        return Array(reached.values)
    }
}
