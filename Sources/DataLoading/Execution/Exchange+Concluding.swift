// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// The transport is done with an attempt, whole or not: its socket is closed or idle.
    func attemptEnded(_ sink: AttemptSink, report: TransportReport, failure: TransportFailure?) {
        let ended = state.withLock { state -> Attempt? in
            state.progress.openAttempts -= 1
            state.progress.add(report)
            if let failure, failure.sent != .nothingWritten {
                state.progress.mayHaveBeenProcessed = true
            }
            return state.attemptEnded(turn: sink.turn, failure)
        }
        reporter?.flush()
        noteAddress(sink, head: ended?.head, failure: failure)
        guard let ended else {
            runtime.admission.leave(sink.origin)
            return reportIfEnded()
        }
        guard ended.held == nil else {
            // What follows is still being decided; the slot is not kept for that.
            return runtime.admission.leave(sink.origin)
        }
        let next = step(after: ended, sink, failure: failure, holdsSlot: true)
        // A further address of the same attempt takes the slot over.
        if case .send = next {} else { runtime.admission.leave(sink.origin) }
        proceed(next)
    }

    /// What comes after an attempt; those who took part in a request hear of a 401 to it before.
    func step(
        after attempt: Attempt, _ sink: AttemptSink, failure: TransportFailure?, holdsSlot: Bool
    ) -> Step {
        let next = conclude(attempt, sink, failure: failure, holdsSlot: holdsSlot)
        guard let head = attempt.head, head.status == .unauthorised,
            state.withLock({ !$0.progress.participants.isEmpty })
        else { return next }
        return .reportRefusal(head, then: next)
    }

    /// What comes after an attempt: by its head's verdict, or by its failure.
    private func conclude(
        _ attempt: Attempt, _ sink: AttemptSink, failure: TransportFailure?, holdsSlot: Bool
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
        case .deliver where attempt.isTooLarge, .append where attempt.isTooLarge:
            return .finish(
                .bodyTooLarge(limit: attempt.handsOn ? sinkLimit : runtime.limits.body))
        case .append where attempt.isBeyondRange:
            return .finish(.framing(reason: "more than the range"))
        case .deliver, .append, .undecided:
            break
        }
        if let failure {
            noteBroken(attempt, failure)
            return judge(failure, sentTo: sink.candidate, holdsSlot: holdsSlot)
        }
        guard let head = attempt.head else {
            return .finish(.transport(reason: "an end without a head"))
        }
        if case .append(let range) = attempt.verdict,
            state.withLock({ $0.progress.received }) < range.length
        {
            // The server has sent a part of the rest: it takes another range.
            let failure = TransportFailure(.truncatedBody, sent: .headReceived)
            noteBroken(attempt, failure)
            return judge(failure, sentTo: sink.candidate, holdsSlot: holdsSlot)
        }
        state.withLock { state in
            if !attempt.handsOn { state.progress.body = attempt.body }
        }
        guard head.status.isSuccess else { return .finish(.status(head.status)) }
        noteSuccess(sink.origin)
        return .finish(nil)
    }
}
