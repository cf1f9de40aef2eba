// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Dispatch
import Foundation

/// One attempt with a `PeerTransport`, from its closure's task to its sink.
///
/// The sink is called on the transport's queue only. The first end counts, wherever it comes from.
final class PeerAttempt: TransportTask {
    private struct State: Sendable {
        /// Nil once the attempt has ended: a closure that never returns retains nothing of the load.
        var sink: (any TransportSink)?
        var task: Task<Void, Never>?
        var hasBegun = false
        var hasHead = false
        /// The length of the body by its head; nil when that does not say it.
        var length: Int64?
        /// Wakes the task when the sink has room again; nil unless it is paused.
        var pause: Waker?
        var idle: TimerQueue.Entry?
        /// When the peer will have been silent for too long.
        var deadline: Instant?
        /// What the peer has said and the sink has not been told yet.
        var deliveries = 0
        var report = TransportReport()

        var isEnded: Bool { sink == nil }
    }

    private let request: TransportRequest
    private let queues: PeerQueues
    private let timerQueue: TimerQueue
    private let forget: @Sendable (PeerAttempt) -> Void
    private let state: Locked<State>

    init(
        _ request: TransportRequest, sink: any TransportSink, queues: PeerQueues,
        timerQueue: TimerQueue, forget: @escaping @Sendable (PeerAttempt) -> Void
    ) {
        self.request = request
        state = Locked(State(sink: sink))
        self.queues = queues
        self.timerQueue = timerQueue
        self.forget = forget
    }

    var mayHaveSent: Bool { state.withLock { $0.hasBegun } }

    /// How much of the peer's answer waits for the queue of the sinks, or is being delivered.
    var deliveries: Int { state.withLock { $0.deliveries } }

    /// Calls the closure, in a task that knows nothing of the caller's.
    func begin(
        _ answer: @escaping @Sendable (TransportRequest) async throws -> PeerResponse
    ) {
        let task = Task.detached { [self] in await run(answer) }
        let isEnded = state.withLock { state in
            if !state.isEnded { state.task = task }
            return state.isEnded
        }
        if isEnded { task.cancel() }
    }

    private func run(
        _ answer: @Sendable (TransportRequest) async throws -> PeerResponse
    ) async {
        let isWanted = state.withLock { state in
            state.hasBegun = !state.isEnded
            return state.hasBegun
        }
        guard isWanted else { return }
        limitSilence()
        do {
            let response = try await answer(request)
            guard response.head.status.rawValue >= 200 else {
                throw DataLoaderError.framing(reason: "status code")
            }
            guard await deliver(response.head) else { return }
            try await response.forEachPiece { await self.deliver($0) }
            let isWhole = state.withLock { $0.report.decodedBytes >= $0.length ?? 0 }
            guard isWhole else { throw DataLoaderError.truncatedBody }
            finish { $0.didEnd($1) }
        } catch {
            fail(error)
        }
    }

    private func deliver(_ head: ResponseHead) async -> Bool {
        // RFC 9112 section 6.3: these have no body, whatever `Content-Length` says.
        let hasBody =
            request.method != .head && head.status != .noContent
            && head.status != .notModified
        let length = hasBody ? head.bodyLength : nil
        return await onQueue { state in
            state.hasHead = true
            state.length = length
        } call: {
            $0.didReceive(head)
        }
    }

    /// Delivers a piece when the sink has room; false when no more are wanted.
    private func deliver(_ piece: Data) async -> Bool {
        while let pause = state.withLock({ $0.pause }) { await pause.wait() }
        let count = Int64(piece.count)
        let error = state.withLock { state -> DataLoaderError? in
            state.report.bodyBytesReceived.addSaturated(count)
            state.report.decodedBytes.addSaturated(count)
            let decoded = state.report.decodedBytes
            if let limit = request.bodyLimit, decoded > limit { return .bodyTooLarge(limit: limit) }
            guard let length = state.length, decoded > length else { return nil }
            return .framing(reason: "more than its length")
        }
        if let error {
            end(error)
            return false
        }
        let isWanted = await onQueue { _ in
        } call: {
            $0.didReceive(piece)
        }
        while isWanted, let pause = state.withLock({ $0.pause }) { await pause.wait() }
        return isWanted
    }

    /// Calls the sink on its queue, unless the attempt has ended; returns whether it is still open.
    private func onQueue(
        _ change: @escaping @Sendable (inout State) -> Void,
        call: @escaping @Sendable (any TransportSink) -> Void
    ) async -> Bool {
        state.withLock { $0.deliveries += 1 }
        return await withCheckedContinuation { done in
            queues.sinks.async { [self] in
                let sink = state.withLock { state in
                    if !state.isEnded { change(&state) }
                    return state.sink
                }
                if let sink {
                    call(sink)
                    limitSilence()
                }
                // Not before the peer has its time again.
                state.withLock { $0.deliveries -= 1 }
                done.resume(returning: sink != nil)
            }
        }
    }
}

/// Ends the attempt.
extension PeerAttempt {
    func cancel() { end(.cancelled) }

    /// Ends the attempt with an error; nothing may have been sent unless the closure was called.
    func end(_ error: DataLoaderError) { fail(error) }

    private func fail(_ error: any Error) {
        finish { sink, report in
            let (hasBegun, hasHead) = self.state.withLock { ($0.hasBegun, $0.hasHead) }
            var failure: TransportFailure
            if let own = error as? TransportFailure {
                failure = own
            } else {
                let sent: SentState = hasBegun ? .written : .nothingWritten
                failure = TransportFailure(.ofPeer(error), sent: sent)
            }
            if hasHead { failure.sent = .headReceived }
            failure.report = report
            sink.didFail(failure)
        }
    }

    private func finish(
        _ call: @escaping @Sendable (any TransportSink, TransportReport) -> Void
    ) {
        let (sink, task, pause, idle, report) = state.withLock { state in
            (
                state.sink.take(), state.task.take(), state.pause.take(), state.idle.take(),
                state.report
            )
        }
        guard let sink else { return }
        if let idle { timerQueue.cancel(idle) }
        pause?.wake()
        queues.sinks.async { [self] in
            call(sink, report)
            forget(self)
        }
        if let task { queues.cancels.async { task.cancel() } }
    }
}

/// Pauses the attempt, and limits the peer's silence.
extension PeerAttempt: TimerTarget {
    func pause() {
        let idle = state.withLock { state in
            guard !state.isEnded else { return nil as TimerQueue.Entry? }
            if state.pause == nil { state.pause = Waker() }
            return state.idle.take()
        }
        if let idle { timerQueue.cancel(idle) }
    }

    func resume() {
        let pause = state.withLock { $0.pause.take() }
        guard let pause else { return }
        pause.wake()
        limitSilence()
    }

    /// Begins the time in which the peer must say something.
    private func limitSilence() {
        let deadline = timerQueue.now + request.idleTimeout
        let entry = timerQueue.schedule(at: deadline, for: self, tag: 0)
        let old = state.withLock { state in
            guard !state.isEnded, state.pause == nil else { return entry as TimerQueue.Entry? }
            defer { state.idle = entry }
            state.deadline = deadline
            return state.idle
        }
        if let old { timerQueue.cancel(old) }
    }

    /// The peer was silent, unless something happened when it was too late to cancel the entry.
    func timerFired(_ tag: Int) {
        let now = timerQueue.now
        let isSilent = state.withLock { state in
            guard state.pause == nil, state.deliveries == 0 else { return false }
            return state.deadline.map { $0 <= now } ?? true
        }
        // Otherwise a resume, the end of the delivery or the later entry limits it.
        if isSilent { end(.idleTimeout) }
    }
}

extension DataLoaderError {
    /// The description of an error from outside the library may be secret.
    fileprivate static func ofPeer(_ error: any Error) -> Self {
        (error as? DataLoaderError)
            ?? Self(
                .transport(reason: "the peer failed: \(type(of: error))"), underlyingError: error)
    }
}
