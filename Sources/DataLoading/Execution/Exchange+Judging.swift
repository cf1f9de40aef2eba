// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// What becomes of a response, from its head alone.
    func judge(_ head: ResponseHead) -> Attempt.Verdict {
        let progress = state.withLock { $0.progress }
        guard let target = progress.target else { return .deliver }
        let retryAfter = noteRetryAfter(head, target)
        if head.status.isSuccess { return .deliver }
        if let verdict = reauthorisation(head, progress) { return verdict }
        if let verdict = redirection(head, progress, target) { return verdict }
        return retry(head, retryAfter, progress)
    }

    /// What comes after a failure: another address, another attempt, or the end.
    func judge(_ failure: TransportFailure, _ attempt: Attempt) -> Step {
        let progress = state.withLock { state in
            state.progress.triedAddresses.insert(attempt.candidate.name)
            // A connection that went silent must not swallow the next attempt too.
            if case .idleTimeout = failure.error { state.progress.needsFreshConnection = true }
            return state.progress
        }
        guard let target = progress.target, !progress.hasDelivered else {
            return .finish(failure.error)
        }
        if failure.sent == .nothingWritten, failure.error.concernsAddress,
            let other = runtime.resolver.choose(
                forHost: target.origin.host, excluding: progress.triedAddresses)
        {
            return .send(to: other)
        }
        var outcome = AttemptOutcome(error: failure.error)
        outcome.random = runtime.random
        let plan = plan(outcome, .failure(failure.error, failure.sent), progress)
        guard case .finish = plan else { return renewed(plan, progress, failure.error) }
        return connectivityPause(failure, progress) ?? .finish(failure.error)
    }

    /// Closes the gate that a 429 or 503 asks for, and returns how long `Retry-After` says.
    private func noteRetryAfter(_ head: ResponseHead, _ target: RequestTarget) -> Duration? {
        guard head.headers.contains("Retry-After") else { return nil }
        let delay = RetryAfter.delay(in: head.headers, date: runtime.timekeeper.date)
        if let delay, head.status == .tooManyRequests || head.status == .serviceUnavailable {
            runtime.limiter.setRetryAfter(delay, for: runtime.limiter.ruleKey(for: target))
        }
        return delay
    }

    private func reauthorisation(
        _ head: ResponseHead, _ progress: LoadProgress
    ) -> Attempt.Verdict? {
        guard head.status == .unauthorised, !progress.participants.isEmpty,
            !progress.isReauthorised
        else { return nil }
        return held(.authoriseAgain(head), progress, .status(head.status))
    }

    private func redirection(
        _ head: ResponseHead, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Attempt.Verdict? {
        let decision = Redirection.decide(
            head, for: progress.base, at: target, visits: progress.visits)
        switch decision {
        case .deliver:
            return nil
        case .refuse(let error):
            return .discard(then: .finish(error))
        case .follow(let next):
            if case .ask(let isAllowed) = progress.base.redirectPolicy {
                let redirect = Redirect(
                    status: head.status, from: progress.base.url, to: next.request.url,
                    method: next.request.method, count: progress.visits.count)
                guard isAllowed(redirect) else { return .deliver }
            }
            return next.request.body == nil
                ? .discard(then: .follow(next))
                : held(.follow(next), progress, .status(head.status))
        }
    }

    private func retry(
        _ head: ResponseHead, _ retryAfter: Duration?, _ progress: LoadProgress
    ) -> Attempt.Verdict {
        var outcome = AttemptOutcome(
            status: head.status, headers: head.headers, retryAfter: retryAfter)
        outcome.random = runtime.random
        let step = plan(outcome, .status(head.status), progress)
        if case .finish = step { return .deliver }
        return held(step, progress, .status(head.status))
    }

    /// Drops a response that something follows; keeps it while that needs a body nobody may have.
    private func held(
        _ step: Step, _ progress: LoadProgress, _ error: DataLoaderError
    ) -> Attempt.Verdict {
        guard progress.needsNewBody else { return .discard(then: step) }
        return progress.streams ? .deliver : .hold(then: .renewBody(then: step, otherwise: error))
    }

    private func renewed(
        _ step: Step, _ progress: LoadProgress, _ error: DataLoaderError
    ) -> Step {
        progress.needsNewBody ? .renewBody(then: step, otherwise: error) : step
    }

    /// Without a connection, and told to wait for one: growing pauses until the deadline.
    private func connectivityPause(
        _ failure: TransportFailure, _ progress: LoadProgress
    ) -> Step? {
        guard progress.base.waitsForConnectivity, failure.sent == .nothingWritten,
            failure.error.concernsConnectivity
        else { return nil }
        var timer =
            progress.connectivityTimer
            ?? ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
        let delay = runtime.random.withGenerator { timer.timeIntervalAndCalculateNext(using: &$0) }
        state.withLock { [timer] in $0.progress.connectivityTimer = timer }
        if progress.connectivityTimer == nil {
            recipient.isWaitingForConnectivity(progress.original)
        }
        return renewed(.pause(delay), progress, failure.error)
    }
}
