// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Holds a loader's unread outcomes until a task reads them.
final class OutcomeBuffer: Sendable {
    private struct State: Sendable {
        var unread = FIFO<LoadOutcome>()
        var count = 0
        var dropped = 0
        var isFinished = false
        /// The tasks that wait for an outcome, oldest first; none while an outcome is unread.
        var readers: [(number: Int, continuation: CheckedContinuation<LoadOutcome?, Never>)] = []
        var lastNumber = 0
    }

    private let maxUnread: Int
    private let state = Locked(State())

    init(maxUnread: Int) {
        self.maxUnread = maxUnread
    }

    var droppedOutcomes: Int { state.withLock { $0.dropped } }

    /// Gives the outcome to the oldest reader, or keeps it.
    func append(_ outcome: LoadOutcome) {
        let (reader, dropped) = state.withLock {
            state -> (CheckedContinuation<LoadOutcome?, Never>?, LoadOutcome?) in
            guard state.readers.isEmpty else {
                return (state.readers.removeFirst().continuation, nil)
            }
            state.unread.append(outcome)
            state.count += 1
            guard state.count > max(1, maxUnread) else { return (nil, nil) }
            state.count -= 1
            state.dropped += 1
            return (nil, state.unread.popFirst())
        }
        reader?.resume(returning: outcome)
        // Released outside the lock, as its request may hold the user's objects.
        withExtendedLifetime(dropped) {}
    }

    /// Ends the sequence after the unread outcomes.
    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.continuation.resume(returning: nil) }
    }

    /// Returns the next outcome; nil after the last one, or when the task is cancelled.
    func next(isolation actor: isolated (any Actor)? = #isolation) async -> LoadOutcome? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            // A closure stays on an actor only if it captures it.
            _ = actor
            return await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> LoadOutcome?? in
                    if Task.isCancelled { return .some(nil) }
                    if let outcome = state.unread.popFirst() {
                        state.count -= 1
                        return outcome
                    }
                    if state.isFinished { return .some(nil) }
                    state.readers.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.readers.firstIndex { $0.number == number }
                    .map { state.readers.remove(at: $0) }
            }
            reader?.continuation.resume(returning: nil)
        }
    }
}
