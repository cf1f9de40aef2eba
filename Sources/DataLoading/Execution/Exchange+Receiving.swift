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

    /// A final head came: what becomes of the response is decided before any byte of its body.
    ///
    /// It is decided here and now, or on the factory's queue where users' code has a say; what comes
    /// meanwhile is held.
    func received(_ head: ResponseHead, from sink: AttemptSink) {
        let isCurrent = state.withLock { state in
            state.progress.mayHaveBeenProcessed = true
            return state.updateAttempt(turn: sink.turn) { $0.head = head }
        }
        guard isCurrent else { return }
        noteRetryAfter(head)
        guard asksUsers(about: head) else { return apply(judge(head), to: head, turn: sink.turn) }
        hold(sink)
        onFactoryQueue { [turn = sink.turn] load in
            guard let (head, sink) = load.held(turn: turn) else { return }
            load.apply(load.judge(head), to: head, turn: turn)
            load.takeHeld(sink)
        }
    }

    /// Does what was decided about a response.
    private func apply(_ verdict: Attempt.Verdict, to head: ResponseHead, turn: Int) {
        switch verdict {
        case .deliver:
            deliver(head, turn: turn)
        case .append(let range):
            let handsOn = recipient.delivery != .whole
            state.withLock { $0.goOn(range, turn: turn, handsOn: handsOn) }
        case let other:
            _ = state.withLock { $0.updateAttempt(turn: turn) { $0.verdict = other } }
        }
    }

    /// The response is the load's; its owner hears of it now where the body is handed on.
    private func deliver(_ head: ResponseHead, turn: Int) {
        let handsOn = handsOn(head)
        // Most loads need not know, and looking costs.
        let total = handsOn || reporter != nil ? bodyLength(head) : nil
        let isTooLarge = handsOn && total ?? 0 > sinkLimit
        let isCurrent = state.withLock { state in
            let isCurrent = state.updateAttempt(turn: turn) { attempt in
                attempt.verdict = .deliver
                attempt.handsOn = handsOn
                attempt.total = total
                attempt.isTooLarge = isTooLarge
            }
            guard isCurrent else { return false }
            state.progress.head = head
            state.progress.received = 0
            state.progress.resumption = .none
            if handsOn, !isTooLarge, recipient.delivery == .chunks {
                state.progress.hasDelivered = true
            }
            return true
        }
        guard isCurrent, handsOn else { return }
        if isTooLarge {
            state.withLock { $0.attempt(turn: turn)?.task }?.cancel()
        } else {
            let error = head.status.isSuccess ? nil : DataLoaderError.status(head.status)
            recipient.didReceiveInitial(response(error: error), from: self)
        }
    }

    /// How long the body will be, where the head tells: the answer to HEAD, a 204 and a 304 have none,
    /// whatever `Content-Length` says (RFC 9112 section 6.3).
    private func bodyLength(_ head: ResponseHead) -> Int64? {
        guard head.status != .noContent, head.status != .notModified,
            state.withLock({ $0.progress.outgoing.method }) != .head
        else { return nil }
        return head.bodyLength
    }

    /// Whether the body of a response is handed on; a sink gets that of a success alone.
    private func handsOn(_ head: ResponseHead) -> Bool {
        switch recipient.delivery {
        case .whole: false
        case .chunks: true
        case .pieces, .restartable: head.status.isSuccess
        }
    }

    /// How many bytes may be handed on.
    var sinkLimit: Int64 { recipient.sink?.limit ?? .max }

    /// Body bytes came: collected, handed on, or left to go by; or held, unless that is over for them.
    func received(_ bytes: Data, turn: Int, wereHeld: Bool = false) {
        enum Next {
            case nothing
            case pause
            case kept
            case handOn
            case stop(any TransportTask)
        }
        let (next, progress) = state.withLock { state in
            var next = Next.nothing
            var total: Int64?
            let received = state.progress.received.addingSaturated(Int64(bytes.count))
            _ = state.updateAttempt(turn: turn) { attempt in
                total = attempt.total
                if !wereHeld, attempt.held != nil {
                    attempt.held?.append(bytes)
                    if attempt.held?.isFull == true { next = .pause }
                    return
                }
                if case .append(let range) = attempt.verdict, received > range.last + 1 {
                    attempt.isBeyondRange = true
                }
                switch attempt.verdict {
                case .deliver where attempt.handsOn, .append where attempt.handsOn:
                    if received > sinkLimit { attempt.isTooLarge = true }
                    if !attempt.isRefused { next = .handOn }
                case .deliver, .append, .hold:
                    // A transport has the limit too; this holds for one that does not keep it.
                    if !attempt.isBeyondRange {
                        attempt.append(bytes, limit: runtime.limits.body)
                    }
                    if case .hold = attempt.verdict { break }
                    if !attempt.isRefused { next = .kept }
                case .undecided, .discard:
                    attempt.discarded = min(attempt.discarded, Self.mostDiscarded) + bytes.count
                    if attempt.discarded > Self.mostDiscarded, let task = attempt.task {
                        next = .stop(task)
                    }
                }
                if attempt.isRefused, let task = attempt.task { next = .stop(task) }
            }
            switch next {
            case .kept: state.progress.received = received
            case .handOn:
                state.progress.received = received
                if recipient.delivery == .pieces { state.progress.hasDelivered = true }
            case .nothing, .pause, .stop: break
            }
            return (next, BodyProgress(completed: received, total: total))
        }
        switch next {
        case .nothing: break
        case .pause: pauseAttempt(turn: turn)
        case .kept: reporter?.note(progress, .download)
        case .stop(let task): task.cancel()
        case .handOn:
            reporter?.note(progress, .download)
            if recipient.didReceive(bytes, from: self) { pauseAttempt(turn: turn) }
        }
    }

    /// Holds the transfer of a turn back until there is room again.
    func pauseAttempt(turn: Int) {
        guard let task = state.withLock({ $0.attempt(turn: turn)?.task }) else { return }
        task.pause()
        // Whoever made room since the window was full has asked to go on too early.
        if mayGoOn(turn: turn) { task.resume() }
    }

    /// Whether there is room for more of a response.
    func mayGoOn(turn: Int) -> Bool {
        !recipient.isFull && state.withLock { $0.attempt(turn: turn)?.held?.isFull != true }
    }

    /// The recipient has room again.
    func windowHasOpened() {
        let task = state.withLock { $0.runningTask }
        task?.resume()
    }
}

extension Attempt {
    /// Whether there is more of the body than may be.
    fileprivate var isRefused: Bool { isTooLarge || isBeyondRange }

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
    /// The rest of the load's response comes: it is put behind what is there.
    fileprivate mutating func goOn(_ range: ContentRange, turn: Int, handsOn: Bool) {
        guard attempt(turn: turn) != nil else { return }
        let partial = progress.resumption.takePartial()
        progress.head = progress.resumption.broken?.head
        _ = updateAttempt(turn: turn) { attempt in
            attempt.verdict = .append(range)
            attempt.handsOn = handsOn
            attempt.total = range.length
            attempt.body = partial
        }
    }

    /// The handle of the attempt that runs, unless it waits for what users' code says.
    fileprivate var runningTask: (any TransportTask)? {
        guard case .running(let attempt) = stage, attempt.held?.isFull != true else { return nil }
        return attempt.task
    }
}
