// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

extension Exchange {
    /// Leaves out an attempt that another load has just made in vain; false when it is to be made.
    ///
    /// It counts as one that failed, so that the load's pauses and retries are its own as ever. The
    /// last attempt of a load is always made: none ends without having tried.
    func sparesAttempt() -> Bool {
        guard !runtime.outages.isEmpty else { return false }
        let progress = state.withLock { $0.progress }
        guard let target = progress.target, !progress.isFinal, progress.triedAddresses.isEmpty,
            !progress.mustTry,
            let error = runtime.outages.finding(
                of: target.origin, for: ObjectIdentifier(self), now: runtime.agenda.now)
        else { return false }
        let failure = TransportFailure(error, sent: .nothingWritten)
        let next: Step
        if hasUsersPolicy {
            // It may block: the slot is not kept while it is asked.
            next = .spare(failure)
        } else {
            guard let pause = sparedPause(failure, progress, target) else { return false }
            next = pause
        }
        state.withLock { $0.progress.metrics.attempts -= 1 }
        // Whoever gets the slot may stand back as well, and so on: not one inside the other.
        runtime.queue.async {
            self.runtime.admission.leave(target.origin)
            self.proceed(next)
        }
        return true
    }

    /// The pause after an attempt that was left out, nil when the attempt has to be made.
    private func sparedPause(
        _ failure: TransportFailure, _ progress: LoadProgress, _ target: RequestTarget
    ) -> Step? {
        pause(after: .failure(failure.error, failure.sent), progress, target, isSpared: true)
            ?? connectivityPause(failure, progress)
    }

    /// Asks the request's own policy about an attempt that was left out; it is made if that is the last.
    func decide(afterSpared failure: TransportFailure) -> Step? {
        let progress = state.withLock { $0.isDecided ? nil : $0.progress }
        guard let progress, let target = progress.target else { return nil }
        if let pause = sparedPause(failure, progress, target) { return pause }
        state.withLock { $0.progress.mustTry = true }
        return .admitAgain
    }

    /// Tells the others that there is no connection to be had.
    func noteOutage(_ failure: TransportFailure, _ origin: Origin) {
        guard failure.sent == .nothingWritten, failure.error.concernsConnectivity else { return }
        runtime.outages.begin(
            origin, error: failure.error, load: ObjectIdentifier(self), now: runtime.agenda.now)
    }
}
