// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// Asks for slots; with them the load goes on at once, or when its turn has come.
    func admit(hasWaited: Bool = false) -> Step? {
        if let target = state.withLock({ $0.progress.target }),
            let fault = runtime.malformedSetting(for: target)
        {
            return .finish(fault)
        }
        let application = state.withLock { state -> Admission.Application? in
            guard let target = state.progress.target,
                let turn = state.enter(.waiting(nil))
            else { return nil }
            state.progress.stageBegan = runtime.agenda.now
            return Admission.Application(
                candidate: Admission.Candidate(
                    waiting: self, turn: turn, deadline: state.progress.deadline),
                key: runtime.limiter.ruleKey(for: target), origin: target.origin,
                loader: ObjectIdentifier(loader), priority: state.progress.base.priority,
                needsNoConnection: isForAuthoriser, hasWaited: hasWaited)
        }
        guard let application else { return nil }
        let turn = application.candidate.turn
        switch runtime.admission.enter(application) {
        case .admitted:
            return holdsSlots(turn: turn, origin: application.origin) ? .send(to: nil) : nil
        case .queued(let ticket):
            let isCurrent = state.withLock { $0.update(.waiting(ticket), turn: turn) }
            // Cancelled or admitted meanwhile; a ticket that was admitted cannot be withdrawn.
            if !isCurrent { _ = runtime.admission.withdraw(ticket) }
            return nil
        case .refused(let error):
            return .finish(error)
        }
    }

    /// Notes that the slots are there; gives them back when the load has ended meanwhile.
    private func holdsSlots(turn: Int, origin: Origin) -> Bool {
        let isCurrent = endsWaiting(turn: turn) { progress in
            if progress.triedAddresses.isEmpty { progress.metrics.attempts += 1 }
            progress.hasBegunRetry = true
        }
        if !isCurrent { runtime.admission.leave(origin) }
        return isCurrent
    }

    /// Goes on from the wait for slots; false when it is over already.
    private func endsWaiting(
        turn: Int, _ change: (inout LoadProgress) -> Void = { _ in }
    ) -> Bool {
        state.withLock { state in
            guard turn == state.turn, case .waiting = state.stage, state.enter(.starting) != nil
            else { return false }
            let now = runtime.agenda.now
            state.progress.metrics.admissionTime += now - state.progress.stageBegan
            change(&state.progress)
            return true
        }
    }

    /// Sends the request to an address, or to the one that the resolver puts first.
    func send(to address: HostResolver.Candidate?) -> Step? {
        if address == nil, sparesAttempt() { return nil }
        guard let plan = planSend(to: address) else { return nil }
        let sink = AttemptSink(
            exchange: self, turn: plan.turn, origin: plan.origin, candidate: plan.candidate)
        let task = runtime.transport.start(plan.request, sink: sink)
        let isCurrent = state.withLock { state in
            state.updateAttempt(turn: plan.turn) { $0.task = task }
        }
        if isCurrent {
            // The window filled up before there was anything to pause.
            if !mayGoOn(turn: plan.turn) { pauseAttempt(turn: plan.turn) }
        } else {
            // The load ended while the transport started; an attempt that has ended does not mind.
            task.cancel()
        }
        return nil
    }

    private struct SendPlan: Sendable {
        let turn: Int
        let origin: Origin
        let candidate: HostResolver.Candidate
        let request: TransportRequest
    }

    private func planSend(to address: HostResolver.Candidate?) -> SendPlan? {
        let (known, tried) = state.withLock { ($0.progress.target, $0.progress.triedAddresses) }
        guard let target = known else { return nil }
        let host = target.origin.host
        let candidate =
            address ?? runtime.resolver.choose(forHost: host, excluding: tried)
            ?? .name
        let plan = state.withLock { state -> SendPlan? in
            guard let turn = state.enter(.running(Attempt())) else { return nil }
            state.progress.head = state.progress.deliveredHead
            state.progress.body = nil
            state.progress.openAttempts += 1
            state.progress.stageBegan = runtime.agenda.now
            let request = transportRequest(candidate, target, &state.progress)
            return SendPlan(
                turn: turn, origin: target.origin, candidate: candidate, request: request)
        }
        if plan == nil {
            runtime.resolver.report(candidate, forHost: host, outcome: .neutral)
            runtime.admission.leave(target.origin)
        }
        return plan
    }

    private func transportRequest(
        _ candidate: HostResolver.Candidate, _ target: RequestTarget,
        _ progress: inout LoadProgress
    ) -> TransportRequest {
        let outgoing = progress.outgoing
        // A fragment is the caller's affair.
        let url = outgoing.url.fragment == nil ? nil : URL(string: target.urlText)
        var request = TransportRequest(
            method: outgoing.method, url: url ?? outgoing.url, headers: outgoing.headers)
        // Where a server sent it may be no URL to the byte.
        if progress.metrics.redirects > 0 { request.setText(target.urlText) }
        request.body = outgoing.body
        if case .address(let address) = candidate {
            request.address = address
            progress.metrics.note(address)
        }
        request.connectTimeout = runtime.timeouts.connect
        request.idleTimeout = runtime.timeouts.idle
        request.headLimit = runtime.limits.head
        request.bodyLimit = progress.streams ? nil : runtime.limits.body
        request.serverTrustPolicy = runtime.serverTrustPolicy
        request.refusesPrivateAddresses = runtime.refusesPrivateAddresses
        request.http2 = runtime.http2
        request.needsLoopbackPeer = outgoing[option: NeedsLoopbackPeer.self]
        request.needsFreshConnection = progress.needsFreshConnection
        request.streamsResponse = progress.streams
        if outgoing.body != nil { request.expectsContinue = outgoing[option: ExpectContinue.self] }
        request.cachePolicy = outgoing.cachePolicy
        return request
    }

    /// Waits before another attempt.
    func pause(_ delay: Duration) -> Step? {
        guard delay > .zero else { return .authorise(from: 0) }
        let now = runtime.agenda.now
        let turn = state.withLock { state in
            state.progress.stageBegan = now
            return state.enter(.pausing(nil))
        }
        guard let turn else { return nil }
        let entry = runtime.agenda.schedule(at: now + delay, for: self, tag: turn)
        let isCurrent = state.withLock { $0.update(.pausing(entry), turn: turn) }
        if !isCurrent { runtime.agenda.cancel(entry) }
        return nil
    }

    func pauseIsOver(turn: Int) {
        let isCurrent = state.withLock { state in
            guard turn == state.turn, case .pausing = state.stage, state.enter(.starting) != nil
            else { return false }
            let now = runtime.agenda.now
            state.progress.metrics.backOffTime += now - state.progress.stageBegan
            return true
        }
        if isCurrent { proceed(.authorise(from: 0)) }
    }
}

extension Exchange: Waiting {
    func admitted(turn: Int) {
        guard let origin = state.withLock({ $0.progress.target?.origin }) else { return }
        if holdsSlots(turn: turn, origin: origin) { proceed(.send(to: nil)) }
    }

    func mustAskAgain(turn: Int) {
        if endsWaiting(turn: turn) { proceed(.admitAgain) }
    }

    func refused(turn: Int, _ error: DataLoaderError) {
        if endsWaiting(turn: turn) { proceed(.finish(error)) }
    }
}
