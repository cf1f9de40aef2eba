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
            state.progress.metrics.totalTime = now - state.progress.begun
            return (stage, state.progress.deadlineEntry)
        }
        guard let (stage, deadline) = decided else { return false }
        if let deadline { runtime.agenda.cancel(deadline) }
        letGo(of: stage)
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
            authoriser.cancelAuthorisation(of: state.withLock { $0.progress.outgoing })
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
        let outcome = state.withLock { $0.take() }
        guard let outcome else { return nil }
        loader.remove(self)
        token.unbind()
        var response = response(error: outcome)
        if outcome == nil { response.bodyFile = recipient.sink?.file }
        state.withLock { $0.progress.handed = response }
        return response
    }

    /// The outcome was handed over, or there was nobody left to hand it to.
    func outcomeWasHandedOver() {
        state.withLock { $0.progress.isHandedOver = true }
        loader.outcomeWasHandedOver(self)
        reportIfEnded()
    }

    /// Tells the observers once the outcome is handed over and no attempt is open any more.
    func reportIfEnded() {
        var response: DataLoaderResponse?
        let isOver = state.withLock { state in
            guard state.progress.isHandedOver, !state.progress.isReported,
                state.progress.openTurns.isEmpty
            else { return false }
            state.progress.isReported = true
            // A cancelled attempt's bytes are known only now.
            state.progress.handed?.metrics = state.progress.metrics
            swap(&response, &state.progress.handed)
            return true
        }
        guard isOver else { return }
        if let response { runtime.observers.notify(response) }
        runtime.ledger.loadEnded()
    }

    /// The response as it stands.
    func response(error: DataLoaderError?) -> DataLoaderResponse {
        state.withLock { state in
            state.progress.response(to: request, error: error, timekeeper: runtime.timekeeper)
        }
    }
}

extension LoadProgress {
    fileprivate func response(
        to request: DataLoaderRequest, error: DataLoaderError?, timekeeper: any Timekeeper
    ) -> DataLoaderResponse {
        let delay = head.flatMap { RetryAfter.delay(in: $0.headers, date: timekeeper.date) }
        return DataLoaderResponse(
            request: request, error: error, statusCode: head?.status ?? .none,
            headers: head?.headers ?? HTTPHeaders(), resolvedURL: head == nil ? nil : base.url,
            retryAfter: delay.map { timekeeper.date.addingTimeInterval($0.inSeconds) },
            body: body, requestTime: metrics.totalTime, metrics: metrics)
    }
}
