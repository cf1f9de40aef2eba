// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Handles the response events of an attempt.
extension Attempt {
    /// Takes a final head; the verdict on the response comes before any byte of its body is used.
    mutating func received(
        _ head: ResponseHead, _ facts: inout LoadFacts, _ actions: inout LoadActionList
    ) {
        facts.isRefusedByProxy = context.isRefusedByProxy(head)
        let asksUsers = facts.asksUsers(about: head)
        receive(head, holdingBack: asksUsers)
        // Responses are stored under the URL before authorisers have changed it.
        if facts.mayInvalidate, let target = facts.baseTarget {
            actions.append(.invalidate(head, facts.outgoing.method, target))
        }
        if head.status == .tooManyRequests || head.status == .serviceUnavailable,
            !context.isStored, let target = facts.target
        {
            actions.append(.noteRetryAfter(head, target))
        }
        guard !facts.isPlain(head) else { return deliver(head, nil, &facts, &actions) }
        actions.append(.judge(head, context, asksUsers: asksUsers))
    }

    /// Applies the verdict on the response.
    mutating func judged(_ verdict: Verdict, _ facts: inout LoadFacts) -> LoadActionList {
        guard let head else { return [] }
        var actions: LoadActionList = []
        switch verdict {
        case .deliver(let reason):
            deliver(head, reason, &facts, &actions)
        case .append(let range):
            let partial = facts.resumption.takePartial()
            facts.head = facts.resumption.broken?.wholeHead(head, range)
            append(range, isStreaming: facts.traits.isStreaming, to: partial)
        case .discard, .hold:
            leaveOut(verdict)
        }
        return holdsBack ? actions + [.takeHeld(context)] : actions
    }

    private mutating func deliver(
        _ head: ResponseHead, _ reason: DataLoaderError.StopReason?, _ facts: inout LoadFacts,
        _ actions: inout LoadActionList
    ) {
        let isStreaming =
            switch facts.traits.delivery {
            case .whole: false
            case .chunks: true
            case .pieces, .restartable: head.status.isSuccess
            }
        // Most loads do not use the length, and finding it costs time.
        let isWanted = isStreaming || facts.traits.reportsProgress
        deliver(
            isStreaming: isStreaming, length: isWanted ? facts.bodyLength(head) : nil,
            limit: facts.traits.streamLimit, because: reason)
        facts.head = head
        facts.received = 0
        facts.hasBegunAnew = facts.resumption.broken != nil
        facts.resumption = .none
        guard isStreaming else {
            if facts.traits.tellsHeads { actions.append(.tellHead) }
            return
        }
        let keepLimit = Int64(clamping: facts.traits.keepLimit)
        if facts.mayKeep(head), !context.isStored, facts.bodyLength(head) ?? 0 <= keepLimit {
            beginCopy()
        }
        if isTooLarge { return actions.append(.cancelAttempt(context)) }
        if facts.traits.delivery == .chunks { facts.hasDelivered = true }
        actions.append(
            .deliverHead(facts.response(head.status.isSuccess ? nil : .status(head.status))))
    }

    /// Takes bytes of the body, and keeps them, hands them on, holds them back or drops them.
    mutating func received(
        _ bytes: Data, _ facts: inout LoadFacts, _ actions: inout LoadActionList,
        wereHeld: Bool = false
    ) {
        let received = facts.received.addingSaturated(Int64(bytes.count))
        let reports = facts.traits.reportsProgress
        switch receive(bytes, received: received, facts.traits, wasHeld: wereHeld) {
        case .dropped: break
        case .pause: actions.append(.pauseAttempt(context))
        case .stop: actions.append(.cancelAttempt(context))
        case .kept:
            facts.received = received
            if reports { actions.append(.noteProgress(progress(received), .download)) }
        case .handOn:
            facts.received = received
            keepCopy(bytes, facts)
            if facts.traits.delivery == .pieces { facts.hasDelivered = true }
            if reports { actions.append(.noteProgress(progress(received), .download)) }
            actions.append(.deliver(bytes, context))
        }
    }

    private func progress(_ received: Int64) -> BodyProgress {
        BodyProgress(completed: received, total: length)
    }
}

extension LoadFacts {
    /// Whether a response is delivered without a verdict, as most are.
    fileprivate borrowing func isPlain(_ head: ResponseHead) -> Bool {
        head.status.isSuccess && head.status != .partialContent && resumption.broken == nil
            && (isPlaying || !base.hasRetryPolicy) && !isCodedUnasked(head)
    }

    /// Whether user code takes part in the verdict on a response.
    fileprivate borrowing func asksUsers(about head: ResponseHead) -> Bool {
        if isPlaying, !(300..<400).contains(head.status.rawValue) { return false }
        if isRefusedByProxy { return hasParticipants }
        if traits.hasUsersPolicy { return true }
        switch head.status.rawValue {
        case 401: return hasParticipants
        case 300..<400:
            if case .ask = base.redirectPolicy { return true }
            return false
        default: return false
        }
    }
}
