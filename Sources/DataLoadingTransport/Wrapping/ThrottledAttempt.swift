// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// One attempt with a `ThrottledTransport`: it waits, runs in the next transport, and gives its
/// place back.
final class ThrottledAttempt: TransportTask, TransportSink {
    private enum Stage: Sendable {
        case waiting
        /// The next transport has not returned its handle yet.
        case starting(isCancelled: Bool)
        case running(any TransportTask)
        /// It retains no task, which may retain its sink.
        case ended(mayHaveSent: Bool)
    }

    private struct State: Sendable {
        /// Nil once the attempt has ended: a sink may retain its task.
        var sink: (any TransportSink)?
        var stage = Stage.waiting
        /// Whether the sink was paused before there was a handle.
        var isPaused = false
        /// Whether the attempt did not start at once.
        var hasWaited = false
    }

    private let request: TransportRequest
    private let throttle: ThrottledTransport
    private let state: Locked<State>

    init(_ request: TransportRequest, sink: any TransportSink, of throttle: ThrottledTransport) {
        self.request = request
        state = Locked(State(sink: sink))
        self.throttle = throttle
    }

    /// Notes that the attempt waits, if it does.
    func noteWait() {
        state.withLock { state in
            if case .waiting = state.stage { state.hasWaited = true }
        }
    }

    /// Starts the attempt; false when it has ended before.
    func start(on transport: any Transport) -> Bool {
        let isWanted = state.withLock { state in
            guard case .waiting = state.stage else { return false }
            state.stage = .starting(isCancelled: false)
            return true
        }
        guard isWanted else { return false }
        let task = transport.start(request, sink: self)
        let (isCancelled, isPaused) = state.withLock { state in
            guard case .starting(let isCancelled) = state.stage else { return (false, false) }
            state.stage = .running(task)
            return (isCancelled, state.isPaused)
        }
        if isCancelled {
            task.cancel()
        } else if isPaused {
            settle(task)
        }
        return true
    }

    /// Pauses a task that was paused before there was a handle, or resumes it.
    ///
    /// Its owner may do either at the same time, and has the last word: until both agree.
    private func settle(_ task: any TransportTask) {
        var isPaused: Bool
        repeat {
            isPaused = state.withLock { $0.isPaused }
            if isPaused { task.pause() } else { task.resume() }
        } while isPaused != state.withLock({ $0.isPaused })
    }

    /// Ends an attempt that was not started; no effect on any other.
    func endEarly(_ error: DataLoaderError) {
        let sink = state.withLock { state -> (any TransportSink)? in
            guard case .waiting = state.stage else { return nil }
            state.stage = .ended(mayHaveSent: false)
            return state.sink.take()
        }
        guard let sink else { return }
        var failure = TransportFailure(error, sent: .nothingWritten)
        failure.wasHeldBack = true
        throttle.ends.async { [failure] in sink.didFail(failure) }
    }

    var mayHaveSent: Bool {
        switch state.withLock({ $0.stage }) {
        case .waiting: false
        case .starting: true
        case .ended(let mayHaveSent): mayHaveSent
        case .running(let task): task.mayHaveSent
        }
    }

    func cancel() {
        let stage = state.withLock { state in
            if case .starting = state.stage { state.stage = .starting(isCancelled: true) }
            return state.stage
        }
        switch stage {
        case .waiting:
            throttle.remove(self)
            endEarly(.cancelled)
            // It may have started since the stage was read; it never waits again.
            if hasStarted { cancel() }
        case .running(let task): task.cancel()
        case .starting, .ended: break
        }
    }

    private var hasStarted: Bool {
        switch state.withLock({ $0.stage }) {
        case .starting, .running: true
        case .waiting, .ended: false
        }
    }

    func pause() { handle(isPaused: true)?.pause() }

    func resume() { handle(isPaused: false)?.resume() }

    private func handle(isPaused: Bool) -> (any TransportTask)? {
        state.withLock { state in
            state.isPaused = isPaused
            if case .running(let task) = state.stage { return task }
            return nil
        }
    }

    private var openSink: (any TransportSink)? { state.withLock { $0.sink } }

    func didSend(_ bodyBytes: Int64, of total: Int64?) { openSink?.didSend(bodyBytes, of: total) }

    func didReceive(_ head: ResponseHead) { openSink?.didReceive(head) }

    func didReceive(_ bytes: Data) { openSink?.didReceive(bytes) }

    func didEnd(_ report: TransportReport) {
        guard let (sink, _) = takeSink(mayHaveSent: true) else { return }
        sink.didEnd(report)
        throttle.attemptEnded()
    }

    func didFail(_ failure: TransportFailure) {
        let mayHaveSent = failure.sent != .nothingWritten
        guard let (sink, hasWaited) = takeSink(mayHaveSent: mayHaveSent) else { return }
        var failure = failure
        failure.wasHeldBack = failure.wasHeldBack || hasWaited
        sink.didFail(failure)
        throttle.attemptEnded()
    }

    /// Returns the sink, and whether the attempt has waited, at its first end; nil at any other.
    ///
    /// A transport that ends an attempt twice would give its place back twice.
    private func takeSink(mayHaveSent: Bool) -> (any TransportSink, hasWaited: Bool)? {
        // The task is released outside the lock.
        let (sink, hasWaited, stage) = state.withLock { state in
            let stage = state.stage
            if state.sink != nil { state.stage = .ended(mayHaveSent: mayHaveSent) }
            return (state.sink.take(), state.hasWaited, stage)
        }
        withExtendedLifetime(stage) {}
        return sink.map { ($0, hasWaited) }
    }
}
