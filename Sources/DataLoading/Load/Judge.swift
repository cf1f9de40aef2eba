// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Decides about a response, and about the step after a failure, from the data of the load.
///
/// It calls user code, so it works under no lock. Its decision is an event of the load.
struct Judge: Sendable {
    let facts: LoadFacts
    let runtime: Runtime
    /// The deadline: of a request that loads share, the latest of theirs; in the distant future without
    /// one.
    let deadline: Instant

    init(_ facts: LoadFacts, _ load: Load) {
        self.init(facts, load.runtime, deadline: load.end.deadlines(of: load).latest)
    }

    private init(_ facts: LoadFacts, _ runtime: Runtime, deadline: Instant) {
        self.facts = facts
        self.runtime = runtime
        self.deadline = deadline
    }

    // MARK: Responses

    /// Returns the verdict on a response, from its head.
    func verdict(on head: ResponseHead) -> Verdict {
        guard let target = facts.target else { return .deliver(nil) }
        // A stored response is not sent again.
        if facts.isPlaying { return redirection(head, target) ?? .deliver(nil) }
        if facts.isRefusedByProxy { return .discard(then: proxyRefusal(head)) }
        if let next = validated(head) { return .discard(then: next) }
        let reauthorisation = reauthorisation(head)
        // What the transport has not decoded must not become the file.
        if facts.isCodedUnasked(head) { return .discard(then: .startOver(then: .fetchWhole)) }
        if let verdict = resumed(head, target) { return verdict }
        if facts.isPartUnasked(head) { return .discard(then: .finish(.unaskedRange)) }
        let verdict =
            reauthorisation ?? redirection(head, target) ?? retry(head, target)
        return restricted(verdict)
    }

    /// Returns the verdict on the response to a range; nil when it is judged like any other
    /// response.
    private func resumed(_ head: ResponseHead, _ target: RequestTarget) -> Verdict? {
        guard let broken = facts.resumption.broken else { return nil }
        switch broken.meaning(of: head, at: facts.received) {
        case .rest(let range): return .append(range)
        case .whole: return facts.hasDelivered ? .discard(then: end(broken)) : nil
        case .useless: return .discard(then: wholeAgain(broken, target))
        case .other: return nil
        }
    }

    /// Returns the step after a range that the server did not serve: a retry of the whole, or the
    /// end.
    private func wholeAgain(_ broken: BrokenResponse, _ target: RequestTarget) -> NextStep {
        guard !facts.hasDelivered else { return end(broken) }
        // An earlier load has left what cannot be continued: that is no failure of this one.
        guard let error = broken.error else { return .fetchWhole }
        var facts = facts
        facts.resumption = .none
        let retry = Judge(facts, runtime, deadline: deadline).retry(
            after: .failure(error, .headReceived), target)
        return .startOver(then: retry.next(otherwise: error))
    }

    /// Ends a load whose response broke after a part of it was delivered.
    private func end(_ broken: BrokenResponse) -> NextStep {
        .finish((broken.error ?? .truncatedBody).stopped(by: .alreadyDelivered))
    }

    /// Replaces a verdict that cannot follow delivered bytes: a response that is not the rest of
    /// them cannot be delivered.
    private func restricted(_ verdict: Verdict) -> Verdict {
        guard facts.hasDelivered, let broken = facts.resumption.broken else { return verdict }
        switch verdict {
        case .deliver, .hold, .discard(then: .follow): return .discard(then: end(broken))
        case .append, .discard: return verdict
        }
    }

    /// Tells the authorisers that took part of a 401; the load is sent again once.
    private func reauthorisation(_ head: ResponseHead) -> Verdict? {
        guard head.status == .unauthorised, let chain = facts.chain else { return nil }
        let response = DataLoaderResponse(
            request: facts.traits.request, error: .status(head.status), statusCode: head.status,
            headers: head.headers, resolvedURL: facts.outgoing.url)
        guard chain.recover(facts.outgoing, from: response), !facts.isReauthorised else {
            return nil
        }
        return leftOut(.authoriseAgain, .status(head.status))
    }

    /// Returns the step after a 407, which is no response of the server: the load is sent again
    /// once, if the proxy's authoriser expects another credential.
    private func proxyRefusal(_ head: ResponseHead) -> NextStep {
        let error = DataLoaderError.proxy(.status(head.status)).occurring(.connecting)
        let response = DataLoaderResponse(
            request: facts.traits.request, error: error, statusCode: head.status,
            headers: head.headers, resolvedURL: facts.outgoing.url)
        guard let chain = facts.chain, chain.recover(facts.outgoing, from: response),
            !facts.isProxyReauthorised
        else { return .finish(error.stopped(by: .permanent)) }
        guard facts.needsNewBody else { return .authoriseAgain }
        let refused = error.stopped(by: .notRepeatable)
        return facts.traits.isStreaming
            ? .finish(refused) : .renewBody(then: .authoriseAgain, otherwise: refused)
    }

    private func redirection(_ head: ResponseHead, _ target: RequestTarget) -> Verdict? {
        let decision = Redirection.decide(
            head, for: facts.base, madeFor: facts.baseTarget?.origin, at: target,
            visits: facts.visits)
        switch decision {
        case .deliver:
            return nil
        case .refuse(let error):
            return .discard(then: .finish(error))
        case .follow(let next):
            if case .ask(let isAllowed) = facts.base.redirectPolicy {
                let redirect = Redirect(
                    status: head.status, from: facts.base.url, to: next.request.url,
                    method: next.request.method, count: facts.visits.count)
                guard isAllowed(redirect) else { return .deliver(nil) }
            }
            return next.request.body == nil
                ? .discard(then: .follow(next)) : leftOut(.follow(next), .status(head.status))
        }
    }

    private func retry(_ head: ResponseHead, _ target: RequestTarget) -> Verdict {
        switch retry(after: .response(head), target) {
        case .stop(let reason):
            facts.stored(inPlaceOf: .status(head.status))
                .map { .discard(then: .useStored(.onError($0))) } ?? .deliver(reason)
        case .next(let next): leftOut(next, head.status.isSuccess ? nil : .status(head.status))
        }
    }

    /// Discards a response that another step follows.
    ///
    /// When that step needs a body that the owner may not have, the response is held, or delivered
    /// if the load is streaming.
    private func leftOut(_ next: NextStep, _ error: DataLoaderError?) -> Verdict {
        guard facts.needsNewBody else { return .discard(then: next) }
        return facts.traits.isStreaming
            ? .deliver(.notRepeatable)
            : .hold(then: .renewBody(then: next, otherwise: error?.stopped(by: .notRepeatable)))
    }

    // MARK: Failures

    /// Returns the step after a failure: another address, another attempt, or the end.
    func next(
        after failure: TransportFailure, holdsSlot: Bool, load: ObjectIdentifier
    ) -> NextStep {
        guard let target = facts.target else { return .finish(failure.error) }
        guard !facts.isFinal else {
            return .finish(failure.error.stopped(by: .alreadyDelivered))
        }
        let host = target.origin.host
        if holdsSlot, failure.sent == .nothingWritten, failure.error.concernsAddress,
            let other = runtime.choosePeer(for: target.origin, excluding: facts.triedAddresses)
        {
            guard facts.needsNewBody else { return .dial(other) }
            runtime.resolver.report(other, forHost: host, outcome: .neutral)
            return renewed(.apply, failure.error)
        }
        if facts.mayReplace(failure) { return .replace }
        if failure.sent == .nothingWritten, failure.error.concernsConnectivity {
            // Other loads need not make the same attempt.
            runtime.originHealth.noteConnectFailure(
                failure.error, of: target.origin, load: load, now: runtime.timerQueue.now)
        }
        return facts.traits.hasUsersPolicy
            ? .askPolicy(failure, isSpared: false) : lastResort(after: failure)
    }

    /// Returns a retry, a pause until there is a connection, or the end.
    func lastResort(after failure: TransportFailure) -> NextStep {
        guard let target = facts.target else { return .finish(failure.error) }
        switch retry(after: .failure(failure.error, failure.sent), target) {
        case .next(let next): return renewed(next, failure.error)
        case .stop(let reason):
            guard let pause = connectivityPause(failure) else {
                return .finish(failure.error.stopped(by: reason))
            }
            return renewed(pause, failure.error)
        }
    }

    /// Returns the pause after a skipped attempt; nil when the attempt must be made.
    func standBack(from failure: TransportFailure) -> NextStep? {
        guard let target = facts.target else { return nil }
        let end = FinishedAttempt.End.failure(failure.error, failure.sent)
        if case .next(let next) = retry(after: end, target, isSpared: true) { return next }
        return connectivityPause(failure)
    }

    /// Returns a retry, or the reason for none; takes the retry's cost from the budget.
    private func retry(
        after end: FinishedAttempt.End, _ target: RequestTarget, isSpared: Bool = false
    ) -> Retry {
        let finished = FinishedAttempt(
            end, mayBeSentTwice: facts.base.mayBeSentTwice,
            // With a streamed response the owner is not asked for another body, because parts of
            // the response may be on their way to it.
            bodyIsReplayable: !(facts.needsNewBody && facts.traits.isStreaming),
            isDelivered: facts.isFinal)
        var circumstances = RetryPlanner.Circumstances(
            retries: facts.retries, request: facts.base, origin: target.origin,
            remaining: deadline == .distantFuture ? nil : deadline - runtime.timerQueue.now,
            date: runtime.timekeeper.date)
        circumstances.isSpared = isSpared
        if case .failure = end { circumstances.hasProgressed = facts.hasProgressed }
        switch runtime.planner.decide(after: finished, circumstances) {
        case .stop(let reason):
            return .stop(reason.stopReason(for: finished, circumstances))
        case .retry(let delay, let cost):
            return .next(isSpared ? .standBack(for: delay) : .retry(after: delay, cost: cost))
        }
    }

    /// Returns the pause of a request that waits for connectivity and whose authoriser has no
    /// connection; nil otherwise.
    func pause(without credential: DataLoaderError) -> NextStep? {
        guard case .cannotAuthenticate = credential.kind, facts.base.waitsForConnectivity else {
            return nil
        }
        let isOffline =
            switch credential.underlyingError {
            // Where packets are dropped, a fetch has no time for its last attempt to fail.
            case AuthorisationError.timedOut?: true
            case AuthorisationError.load(let error)?: error.mayLackConnection
            case let error as DataLoaderError: error.mayLackConnection
            default: false
            }
        return isOffline ? connectivityPause() : nil
    }

    /// Returns a growing pause, for a request that waits for connectivity and has no connection;
    /// nil otherwise.
    private func connectivityPause(_ failure: TransportFailure) -> NextStep? {
        guard facts.base.waitsForConnectivity, failure.sent == .nothingWritten,
            failure.error.concernsConnectivity
        else { return nil }
        return connectivityPause()
    }

    private func connectivityPause() -> NextStep {
        var timer =
            facts.connectivityTimer?.value
            ?? ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(60))
        let delay = runtime.random.withGenerator { timer.timeIntervalAndCalculateNext(using: &$0) }
        return .waitForConnectivity(delay, timer)
    }

    private func renewed(_ next: NextStep, _ error: DataLoaderError) -> NextStep {
        facts.needsNewBody
            ? .renewBody(then: next, otherwise: error.stopped(by: .notRepeatable)) : next
    }
}

/// A retry, or the reason for none.
private enum Retry {
    case next(NextStep)
    case stop(DataLoaderError.StopReason)

    /// Returns the step of the retry, or the end with an error that has the reason.
    func next(otherwise error: DataLoaderError) -> NextStep {
        switch self {
        case .next(let next): next
        case .stop(let reason): .finish(error.stopped(by: reason))
        }
    }
}

extension DataLoaderError {
    /// Whether a fetch ended for lack of a connection, or before it had one.
    fileprivate var mayLackConnection: Bool {
        if case .timedOut(_, mayHaveBeenProcessed: false) = kind { return true }
        return concernsConnectivity
    }
}
