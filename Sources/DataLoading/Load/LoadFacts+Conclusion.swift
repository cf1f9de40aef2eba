// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

extension LoadFacts {
    /// The result of an ended attempt for its load.
    enum Conclusion: Sendable {
        case success
        case next(NextStep)
        /// The step after a failure is not decided yet.
        case failure(TransportFailure)
    }

    /// Concludes an attempt that has ended, from the verdict on its head or from its failure.
    mutating func conclude(_ attempt: Attempt, _ failure: TransportFailure?) -> Conclusion {
        switch attempt.verdict {
        case .discard(let next):
            return .next(next)
        case .hold(let next):
            head = attempt.head
            guard let broken = broken(attempt, failure) else {
                body = attempt.body
                return .next(next)
            }
            body = nil
            // Without another body to send, an incomplete response is not an outcome.
            guard case .renewBody(let next, _) = next else { return .next(next) }
            return .next(.renewBody(then: next, otherwise: broken.stopped(by: .notRepeatable)))
        case .deliver where attempt.isTooLarge, .append where attempt.isTooLarge:
            let limit = attempt.isStreaming ? traits.streamLimit : traits.bodyLimit
            return .next(.finish(.bodyTooLarge(limit: limit).occurring(.readingBody)))
        case .append where attempt.isBeyondRange:
            let error = DataLoaderError.framing(reason: "more than the range")
            return .next(.finish(error.occurring(.readingBody)))
        case .deliver, .append, nil:
            break
        }
        if var failure {
            failure.error = failure.error.occurring(.init(failure, of: outgoing))
            noteBroken(attempt, failure.error)
            return .failure(failure)
        }
        guard let head = attempt.head else {
            return .next(.finish(.transport(reason: "an end without a head")))
        }
        if case .append(let range) = attempt.verdict, received < range.length {
            // The server has sent a part of the rest: the load asks for another range.
            let error = DataLoaderError.truncatedBody.occurring(.readingBody)
            noteBroken(attempt, error)
            return .failure(TransportFailure(error, sent: .headReceived))
        }
        if !attempt.isStreaming { body = attempt.body }
        guard !head.status.isSuccess else { return .success }
        let error = DataLoaderError.status(head.status)
        guard case .deliver(let reason) = attempt.verdict else { return .next(.finish(error)) }
        return .next(.finish(error.stopped(by: reason)))
    }

    /// Whether an origin has answered well, though the load has no success of its own.
    ///
    /// A load that only polls gets nothing but 304, and one that looks for a file 404.
    func isAnswer(_ next: NextStep) -> Bool {
        switch next {
        case .useStored(.confirmed): return true
        case .finish(let error):
            guard case .status(let status)? = error?.kind, !isRefusedByProxy else { return false }
            return status.rawValue < 500
                && ![.requestTimeout, .tooEarly, .tooManyRequests].contains(status)
        default: return false
        }
    }

    /// The error of a response that was to be held whole; nil for a whole response.
    private func broken(_ attempt: Attempt, _ failure: TransportFailure?) -> DataLoaderError? {
        // The limit comes first: an attempt with a body that is too large is cancelled.
        let error: DataLoaderError? =
            attempt.isTooLarge ? .bodyTooLarge(limit: traits.bodyLimit) : failure?.error
        return error?.occurring(.readingBody)
    }

    /// The outcome of an ended attempt for its address.
    func addressOutcome(
        of context: AttemptSink, _ head: ResponseHead?, _ failure: TransportFailure?,
        hasTimedOut: Bool, at now: Instant
    ) -> AddressOutcome {
        // The proxy chooses the address, and its failures say nothing about the host's.
        if context.isProxied { return .neutral }
        // A response that the load cut short still shows the state of its server.
        let isCutShort = failure?.error == .cancelled
        if let head, failure == nil || isCutShort { return AddressOutcome(head.status) }
        guard let failure else { return .neutral }
        // The deadline ended an attempt that was slow to connect. Its limit for connecting may be
        // longer than the deadline, and would then never show that an address is dead. After a
        // second the system has sent its SYN again (RFC 6298 section 2). A file or stream may have
        // kept the attempt from connecting.
        let isLate = hasTimedOut && now - context.begun >= .seconds(1)
        let mayConnect = outgoing.body == nil || outgoing.body?.bytes != nil
        let isSlow = isLate && mayConnect && !failure.wasHeldBack
        if isCutShort, failure.sent == .nothingWritten, isSlow {
            return .serverTrouble(.error(.timedOut))
        }
        if isCutShort, hasTimedOut, isUnanswered(since: context.begun, failure, at: now) {
            return .serverTrouble(.error(.timedOut))
        }
        // An address that is too slow for one impatient request is fast enough for the others.
        if case .idleTimeout = failure.error.kind, traits.hasShortIdleTimeout { return .neutral }
        return AddressOutcome(failure)
    }

    /// Whether an attempt without a head had half of the load's time, at its deadline, and no body that
    /// may have kept it from an answer.
    ///
    /// Where deadlines are shorter than the idle limit, nothing else shows that a server is silent.
    private func isUnanswered(
        since begun: Instant, _ failure: TransportFailure, at now: Instant
    ) -> Bool {
        guard let deadline = traits.deadline, outgoing.body == nil else { return false }
        guard traits.hasUsualPatience, !failure.wasHeldBack else { return false }
        return now - begun >= (deadline - traits.begun) / 2
    }

    /// The phase of an attempt without a head, by whether any of it may have been sent; nil when a
    /// body may have been partly sent.
    func phase(mayHaveSent: Bool) -> DataLoaderError.Phase? {
        guard mayHaveSent else { return .connecting }
        return outgoing.body == nil ? .waitingForHead : nil
    }
}
