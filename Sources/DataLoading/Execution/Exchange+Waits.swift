// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// Goes on with a step on the factory's queue, where users' code may be busy.
    func wait(toGoOn step: Step) {
        if case .authorise = step {
            let now = runtime.agenda.now
            state.withLock { $0.progress.queuedSince = now }
        }
        onFactoryQueue { $0.proceed(step) }
    }

    /// Runs what asks users' code on the factory's queue; ends the load where too many wait there.
    ///
    /// A load that ends meanwhile is not kept by its place there, and nobody is asked about it.
    func onFactoryQueue(_ body: @escaping @Sendable (Exchange) -> Void) {
        let isQueued = factory.backlog.run { [token] in
            if let load = token.load { body(load) }
        }
        if !isQueued { proceed(.finish(.overloaded)) }
    }

    /// Corrects an outcome whose attempt was cancelled before any of it was sent.
    ///
    /// How far an attempt has got is certain only once it was cancelled: then it cannot begin to send.
    func noteUnsent(_ stage: LoadState.Stage, at now: Instant) {
        guard case .running(let attempt) = stage, let task = attempt.task, !task.mayHaveSent else {
            return
        }
        state.withLock { $0.noteUnsent(at: now) }
    }
}

extension LoadState {
    fileprivate mutating func noteUnsent(at now: Instant) {
        // Otherwise the transport has reported that time already.
        if progress.openAttempts > 0 {
            progress.metrics.connectTime += now - progress.stageBegan
            progress.hasCountedConnecting = true
        }
        guard case .decided(.timedOut(let limit, true)) = stage, !progress.mayHaveBeenProcessed
        else { return }
        _ = turnDecided(into: .timedOut(after: limit, mayHaveBeenProcessed: false))
    }
}

extension LoadProgress {
    /// Counts the wait that a load ends in.
    mutating func endWait(for stage: LoadState.Stage, at now: Instant) {
        switch stage {
        case .authorising: metrics.authorisationTime += now - stageBegan
        case .waiting: metrics.admissionTime += now - stageBegan
        case .pausing: metrics.backOffTime += now - stageBegan
        case .starting: endQueueing(at: now)
        case .asking, .running, .decided, .over: break
        }
    }

    /// Counts the wait for those that the factory's queue was busy with.
    mutating func endQueueing(at now: Instant) {
        guard let since = queuedSince.take() else { return }
        metrics.authorisationTime += now - since
    }

    /// Counts what an attempt cost.
    mutating func add(_ report: TransportReport) {
        var report = report
        if hasCountedConnecting { report.connectTime = nil }
        metrics.add(report)
    }
}
