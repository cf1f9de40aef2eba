// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Exchange {
    /// Decides the outcome; without effect when it was decided before.
    func finish(_ error: DataLoaderError?) -> Step? {
        _ = decide(error)
        return nil
    }

    /// Decides the outcome, once; lets go of whatever the load was waiting for.
    private func decide(_ error: DataLoaderError?) -> Bool {
        let now = runtime.agenda.now
        let decided = state.withLock { state -> (LoadState.Stage, Agenda.Entry?)? in
            guard let stage = state.decide(error) else { return nil }
            state.progress.endWait(for: stage, at: now)
            state.progress.metrics.totalTime = now - state.progress.begun
            return (stage, state.progress.deadlineEntry)
        }
        guard let (stage, deadline) = decided else { return false }
        if let deadline { runtime.agenda.cancel(deadline) }
        letGo(of: stage)
        giveBackRetry()
        noteUnsent(stage, at: now)
        if error == .cancelled { token.markCancelled() }
        guard let reporter else {
            recipient.outcomeIsReady(self)
            return true
        }
        reporter.finish { self.recipient.outcomeIsReady(self) }
        return true
    }

    /// Cancels the load; an outcome that nobody has taken yet turns into a cancellation.
    func cancel() {
        cancel(as: .cancelled)
    }

    /// Ends the load from outside: cancelled, reset, or because the service went.
    func cancel(as error: DataLoaderError) {
        recipient.dropPending()
        reporter?.close()
        guard !decide(error) else { return }
        let isTurned = state.withLock { $0.turnDecided(into: error) }
        if isTurned, error == .cancelled { token.markCancelled() }
    }

    /// The sink cannot take the body.
    func sinkFailed(_ error: DataLoaderError) {
        guard !decide(error) else { return }
        _ = state.withLock { $0.isSuccess && $0.turnDecided(into: error) }
    }

    /// Parts of the body were dropped, for a cancellation that may not have come further yet.
    func bodyWasLost() {
        let isTurned = state.withLock { $0.isSuccess && $0.turnDecided(into: .cancelled) }
        if isTurned { token.markCancelled() }
    }

    /// Whether the outcome is there, not taken yet, and a success.
    var isSuccess: Bool { state.withLock { $0.isSuccess } }

    /// Ends loads from outside, those that wait for a slot first.
    ///
    /// The end of a load gives its slot to the next one, which must not be sent only to be cancelled.
    static func endAll(_ exchanges: [Exchange], as error: DataLoaderError) {
        let waiting = exchanges.filter(\.isWaiting)
        for exchange in waiting { exchange.cancel(as: error) }
        for exchange in exchanges { exchange.cancel(as: error) }
    }

    private var isWaiting: Bool {
        state.withLock { if case .waiting = $0.stage { true } else { false } }
    }

    func deadlineHasPassed() {
        let (limit, mayHaveBeenProcessed) = state.withLock { state in
            var isProcessed = state.progress.mayHaveBeenProcessed
            // How far a running attempt has got is not known before it has ended.
            if case .running = state.stage { isProcessed = true }
            let deadline = state.progress.deadline ?? state.progress.begun
            return (deadline - state.progress.begun, isProcessed)
        }
        _ = finish(.timedOut(after: limit, mayHaveBeenProcessed: mayHaveBeenProcessed))
    }

    private func letGo(of stage: LoadState.Stage) {
        switch stage {
        case .authorising(let authoriser):
            let (outgoing, tasks) = state.withLock { state in
                (state.progress.outgoing, state.progress.authorisationTasks)
            }
            for task in tasks { task.cancel() }
            // The load stays until then, so that no other one can have its identity.
            factory.queue.async {
                withExtendedLifetime(self) { authoriser.cancelAuthorisation(of: outgoing) }
            }
        case .waiting(let ticket):
            if let ticket { _ = runtime.admission.withdraw(ticket) }
        case .pausing(let entry):
            if let entry { runtime.agenda.cancel(entry) }
        case .running(let attempt):
            attempt.task?.cancel()
        case .starting, .asking, .decided, .over:
            break
        }
    }

    /// Takes the outcome, to hand it over now; nil when somebody has it or there is none.
    ///
    /// From here on the load is none of its loader's, and cancelling it does nothing.
    func takeOutcome() -> DataLoaderResponse? {
        let response = state.withLock { state -> DataLoaderResponse? in
            guard let error = state.take() else { return nil }
            let retryAfter = state.progress.retryAfter(runtime.timekeeper)
            state.progress.end = (error, retryAfter)
            return state.progress.response(to: request, error, retryAfter)
        }
        guard let response else { return nil }
        loader.remove(self)
        token.unbind()
        return withBodyFile(response)
    }

    /// Says where the body of a success went.
    private func withBodyFile(_ response: DataLoaderResponse) -> DataLoaderResponse {
        guard response.error == nil, let file = recipient.sink?.file else { return response }
        var response = response
        response.bodyFile = file
        return response
    }

    /// The outcome was handed over, or there was nobody left to hand it to.
    func outcomeWasHandedOver() {
        loader.outcomeWasHandedOver(self)
        reportIfEnded { $0.isHandedOver = true }
    }

    /// Tells the observers once the outcome is handed over and no attempt is open any more.
    func reportIfEnded(_ change: (inout LoadProgress) -> Void = { _ in }) {
        let response = state.withLock { state -> DataLoaderResponse? in
            change(&state.progress)
            guard state.progress.isHandedOver, !state.progress.isReported,
                state.progress.openAttempts == 0
            else { return nil }
            state.progress.isReported = true
            // Made anew: a cancelled attempt's bytes are known only now.
            let end = state.progress.end
            return state.progress.response(to: request, end.error, end.retryAfter)
        }
        guard let response else { return }
        runtime.observers.notify(withoutSecrets(withBodyFile(response)))
        runtime.ledger.loadEnded()
    }

    /// What authorisers load for themselves is counted, and not shown: it is tokens and passwords.
    private func withoutSecrets(_ response: DataLoaderResponse) -> DataLoaderResponse {
        guard isForAuthoriser else { return response }
        var response = response
        response.request.body = nil
        response.request.headers = HTTPHeaders()
        response.headers = HTTPHeaders()
        response.body = nil
        return response
    }

    /// The response as it stands.
    func response(error: DataLoaderError?) -> DataLoaderResponse {
        state.withLock { state in
            state.progress.response(
                to: request, error, state.progress.retryAfter(runtime.timekeeper))
        }
    }
}

extension LoadProgress {
    /// When the server wants to be asked again.
    fileprivate func retryAfter(_ timekeeper: any Timekeeper) -> Date? {
        // Most responses say nothing of it, and reading the clock is not for nothing.
        guard let headers = head?.headers, headers.contains("Retry-After") else { return nil }
        let date = timekeeper.date
        let delay = RetryAfter.delay(in: headers, date: date)
        return delay.map { date.addingTimeInterval($0.inSeconds) }
    }

    fileprivate func response(
        to request: DataLoaderRequest, _ error: DataLoaderError?, _ retryAfter: Date?
    ) -> DataLoaderResponse {
        var response = DataLoaderResponse(
            request: request, error: error, statusCode: head?.status ?? .none,
            headers: head?.headers ?? HTTPHeaders(), resolvedURL: head == nil ? nil : base.url,
            retryAfter: retryAfter,
            body: body, requestTime: metrics.totalTime, metrics: metrics)
        if case .cannotAuthenticate(let reason) = error {
            response.underlyingError = reason.underlyingError
        }
        return response
    }
}
