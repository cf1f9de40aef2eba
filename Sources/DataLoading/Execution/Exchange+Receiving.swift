// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// How much of a body that nobody will see is read to keep the connection; then it is closed.
    private static var mostDiscarded: Int { 65_536 }

    /// The transport took bytes of the request's body over.
    func sent(_ progress: BodyProgress, turn: Int) {
        guard let reporter, state.withLock({ $0.attempt(turn: turn) }) != nil else { return }
        reporter.note(progress, .upload)
    }

    /// A final head came: what becomes of the response is decided now, before any byte of its body.
    func received(_ head: ResponseHead, turn: Int) {
        let isCurrent = state.withLock { state in
            state.progress.mayHaveBeenProcessed = true
            return state.updateAttempt(turn: turn) { $0.head = head }
        }
        guard isCurrent else { return }
        let verdict = judge(head)
        let delivers = state.withLock { state in
            guard state.updateAttempt(turn: turn, { $0.verdict = verdict }) else { return false }
            guard case .deliver = verdict else { return false }
            state.progress.head = head
            guard state.progress.streams else { return false }
            state.progress.hasDelivered = true
            return true
        }
        guard delivers else { return }
        let error = head.status.isSuccess ? nil : DataLoaderError.status(head.status)
        recipient.didReceiveInitial(response(error: error), from: self)
    }

    /// Body bytes came: collected, handed on, or left to go by.
    func received(_ bytes: Data, turn: Int) {
        enum Next {
            case nothing
            case handOn
            case stop(any TransportTask)
        }
        let next = state.withLock { state in
            var next = Next.nothing
            let streams = state.progress.streams
            _ = state.updateAttempt(turn: turn) { attempt in
                switch attempt.verdict {
                case .deliver where streams:
                    next = .handOn
                case .deliver, .hold:
                    // A transport has the limit too; this holds for one that does not keep it.
                    attempt.append(bytes, limit: runtime.limits.body)
                    if attempt.isTooLarge, let task = attempt.task { next = .stop(task) }
                case .undecided, .discard:
                    attempt.discarded = min(attempt.discarded, Self.mostDiscarded) + bytes.count
                    if attempt.discarded > Self.mostDiscarded, let task = attempt.task {
                        next = .stop(task)
                    }
                }
            }
            return next
        }
        switch next {
        case .nothing: break
        case .stop(let task): task.cancel()
        case .handOn:
            if recipient.didReceive(bytes, from: self) { pauseAttempt(turn: turn) }
        }
    }

    /// Holds the transfer of a turn back until there is room again.
    func pauseAttempt(turn: Int) {
        guard let task = state.withLock({ $0.attempt(turn: turn)?.task }) else { return }
        task.pause()
        // Whoever made room since the window was full has asked to go on too early.
        if !recipient.isFull { task.resume() }
    }

    /// The recipient has room again.
    func windowHasOpened() {
        let task = state.withLock { $0.runningTask }
        task?.resume()
    }

    /// The transport is done with an attempt, whole or not: its socket is closed or idle.
    func attemptEnded(_ sink: AttemptSink, report: TransportReport, failure: TransportFailure?) {
        let (isFirstEnd, ended) = state.withLock { state -> (Bool, Attempt?) in
            guard let open = state.progress.openTurns.firstIndex(of: sink.turn) else {
                return (false, nil)
            }
            state.progress.openTurns.remove(at: open)
            state.progress.metrics.add(report)
            if let failure, failure.sent != .nothingWritten {
                state.progress.mayHaveBeenProcessed = true
            }
            guard let attempt = state.attempt(turn: sink.turn), state.enter(.starting) != nil else {
                return (true, nil)
            }
            return (true, attempt)
        }
        guard isFirstEnd else { return }
        reporter?.flush()
        noteAddress(sink, head: ended?.head, failure: failure)
        guard let ended else {
            runtime.admission.leave(sink.origin)
            return reportIfEnded()
        }
        let next = conclude(ended, sink, failure: failure)
        switch next {
        case .send:
            // A further address of the same attempt takes the slot over.
            proceed(next)
        case .finish:
            runtime.admission.leave(sink.origin)
            proceed(next)
        default:
            runtime.admission.leave(sink.origin)
            proceedElsewhere(next)
        }
    }

    /// What comes after an attempt: by its head's verdict, or by its failure.
    private func conclude(
        _ attempt: Attempt, _ sink: AttemptSink, failure: TransportFailure?
    ) -> Step {
        switch attempt.verdict {
        case .discard(let step):
            return step
        case .hold(let step):
            state.withLock { state in
                state.progress.head = attempt.head
                state.progress.body = failure == nil && !attempt.isTooLarge ? attempt.body : nil
            }
            return step
        case .deliver where attempt.isTooLarge:
            return .finish(.bodyTooLarge(limit: runtime.limits.body))
        case .deliver, .undecided:
            break
        }
        if let failure { return judge(failure, sentTo: sink.candidate) }
        guard let head = attempt.head else {
            return .finish(.transport(reason: "an end without a head"))
        }
        state.withLock { state in
            if !state.progress.streams { state.progress.body = attempt.body }
        }
        guard head.status.isSuccess else { return .finish(.status(head.status)) }
        noteSuccess(sink.origin)
        return .finish(nil)
    }
}

extension Attempt {
    /// Keeps a piece of a body, the first one without copying it; nothing past the limit.
    fileprivate mutating func append(_ bytes: Data, limit: Int64) {
        guard !isTooLarge, Int64(body.count) + Int64(bytes.count) <= limit else {
            isTooLarge = true
            body = Data()
            return
        }
        if body.isEmpty { body = bytes } else { body.append(bytes) }
    }
}

extension LoadState {
    /// The handle of the attempt that runs.
    fileprivate var runningTask: (any TransportTask)? {
        guard case .running(let attempt) = stage else { return nil }
        return attempt.task
    }
}
