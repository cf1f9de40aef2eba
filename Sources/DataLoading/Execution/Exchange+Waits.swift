// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
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
        case .starting, .asking, .running, .decided, .over: break
        }
    }

    /// Counts what an attempt cost.
    mutating func add(_ report: TransportReport) {
        var report = report
        if hasCountedConnecting { report.connectTime = nil }
        metrics.add(report)
    }
}
