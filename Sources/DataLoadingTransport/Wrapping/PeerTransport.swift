// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
import Dispatch

/// Lets any code answer attempts: another process, a device, a bundle of files.
///
/// ```swift
/// let transport = PeerTransport { request in
///     PeerResponse(ResponseHead(status: .ok), body: try await archive.body(of: request.url))
/// }
/// ```
/// The closure is called in a task of its own, which is cancelled with the attempt. The attempt
/// ends at once then, whatever the closure does. The sink is called on the transport's own queue.
///
/// What the closure throws ends the attempt: a `TransportFailure` as it is, a `DataLoaderError` as a
/// request that may have been processed, and any other error as `.transport`, with that error as
/// the underlying one. Throw a `TransportFailure` with `.nothingWritten` when the peer cannot have
/// got the request: the load may then repeat any request.
///
/// The transport keeps the request's `idleTimeout`, for the head and for each piece of the body,
/// and its `bodyLimit`. The closure keeps the other limits, if it connects. Attempts for the cache
/// only (`.cacheOnly`) fail with `.notCached`. The transport has no state to reset.
public final class PeerTransport: Transport {
    private struct State: Sendable {
        var attempts: [ObjectIdentifier: PeerAttempt] = [:]
        var isShutDown = false
    }

    private let answer: @Sendable (TransportRequest) async throws -> PeerResponse
    private let timerQueue: TimerQueue
    private let state = Locked(State())
    private let queues = PeerQueues()

    /// Makes a transport whose attempts `answer` answers, each in a task of its own; what it throws ends
    /// its attempt.
    public convenience init(
        _ answer: @escaping @Sendable (TransportRequest) async throws -> PeerResponse
    ) {
        self.init(timekeeper: SystemTimekeeper(), answer)
    }

    /// Makes a transport with the clock of a test.
    package init(
        timekeeper: any Timekeeper,
        _ answer: @escaping @Sendable (TransportRequest) async throws -> PeerResponse
    ) {
        self.answer = answer
        timerQueue = TimerQueue(timekeeper: timekeeper)
    }

    /// The number of attempts that have not ended.
    package var count: Int { state.withLock { $0.attempts.count } }

    /// Starts one attempt.
    public func start(
        _ attempt: TransportRequest, sink: any TransportSink
    ) -> any TransportTask {
        let started = PeerAttempt(attempt, sink: sink, queues: queues, timerQueue: timerQueue) {
            [state] attempt in
            // The attempt is released outside the lock.
            _ = state.withLock { $0.attempts.removeValue(forKey: ObjectIdentifier(attempt)) }
        }
        let refusal = state.withLock { state -> DataLoaderError? in
            state.attempts[ObjectIdentifier(started)] = started
            if state.isShutDown { return .serviceInvalidated }
            return attempt.cachePolicy == .cacheOnly ? .notCached : nil
        }
        if let refusal { started.end(refusal) } else { started.begin(answer) }
        return started
    }

    /// Does nothing.
    public func reset() async {}

    /// Ends every attempt with `.serviceInvalidated`; closures that ignore their cancellation may
    /// still run.
    public func shutDown() async {
        let attempts = state.withLock { state in
            state.isShutDown = true
            return Array(state.attempts.values)
        }
        for attempt in attempts { attempt.end(.serviceInvalidated) }
        await withCheckedContinuation { done in queues.sinks.async { done.resume() } }
    }
}

/// The queues of a peer transport; a global queue may be busy.
struct PeerQueues: Sendable {
    /// Calls the sinks, one at a time.
    let sinks = DispatchQueue(label: "DataLoading.peer")
    /// Cancels tasks, which may run handlers of a closure that block.
    let cancels = DispatchQueue(label: "DataLoading.peer.cancels")
}
