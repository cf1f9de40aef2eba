// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import DataLoadingSupport
import Foundation

/// Performs a `NextStep`.
extension LoadMachine {
    /// Performs a step that was decided; gives back its cost or its address when the load has ended
    /// meanwhile.
    mutating func decided(
        _ next: NextStep, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch else {
            guard case .dial(let candidate) = next, let origin = facts.target?.origin else {
                return refund(next.cost)
            }
            return [.release(candidate, origin)]
        }
        switch state {
        case .deciding(let slots?):
            if case .dial(let candidate) = next, let sending {
                enter(.dialling(slots))
                stageBegan = now
                return [.dial(sending, candidate, epoch: self.epoch)]
            }
            state = .deciding(slots: nil)
            return leave(slots) + proceed(to: next, now)
        case .deciding(nil):
            return proceed(to: next, now)
        case .applying, .queued, .dialling:
            // The attempt was skipped, and its slots are given back already.
            facts.metrics.admissionTime += now - stageBegan
            return proceed(to: next, now)
        default:
            return refund(next.cost)
        }
    }

    mutating func proceed(to next: NextStep, _ now: Instant) -> LoadActionList {
        switch next {
        case .authoriseAgain:
            facts.noteReauthorisation()
            return authorise(now)
        case .follow(let redirect):
            var actions: LoadActionList = []
            // The success of a redirect within the origin is counted once, at the load's end; a
            // retry's cost is returned now.
            if let origin = facts.target?.origin,
                facts.retryCost != nil || origin != redirect.target.origin
            {
                actions.append(facts.takeSuccess(of: origin))
            }
            facts.follow(redirect)
            return actions + authorise(now)
        case .retry(let delay, let cost):
            facts.noteRetry(cost)
            return pause(delay, now)
        case .standBack(let delay):
            facts.retries += 1
            return pause(delay, now)
        case .tryAnyway:
            facts.mustTry = true
            return apply(now, hasWaited: true)
        case .startOver(let next):
            facts.resumption = .none
            facts.mayResume = false
            return proceed(to: next, now)
        case .waitForConnectivity(let delay, let timer):
            let isFirst = facts.connectivityTimer == nil
            facts.connectivityTimer = timer
            return (isFirst ? [.tellWaitingForConnectivity] : []) + pause(delay, now)
        case .dial(let candidate):
            // The slots were given back.
            guard let origin = facts.target?.origin else { return [] }
            return [.release(candidate, origin)] + apply(now)
        case .apply:
            return apply(now)
        case .replace:
            facts.needsFreshConnection = true
            facts.metrics.replacedConnections += 1
            return authorise(now)
        case .askPolicy(let failure, let isSpared):
            enter(.deciding(slots: nil))
            return [.askPolicy(failure, isSpared: isSpared, epoch: epoch)]
        case .renewBody(let next, let error):
            enter(.askingForBody(then: next, otherwise: error))
            return [.askForBody(epoch: epoch)]
        case .finish(let error):
            return complete(error, now)
        }
    }

    mutating func newBody(
        _ stream: OneShotStream?, _ epoch: Int, _ now: Instant
    ) -> LoadActionList {
        guard epoch == self.epoch, case .askingForBody(let next, let error) = state else {
            return []
        }
        guard let stream else { return complete(error, now) }
        facts.replaceBody(by: stream)
        return proceed(to: next, now)
    }

    mutating func pause(_ delay: Duration, _ now: Instant) -> LoadActionList {
        guard delay > .zero else { return authorise(now) }
        stageBegan = now
        enter(.resting)
        return [.setTimer(delay, epoch: epoch)]
    }

    mutating func timerSet(_ timer: TimerQueue.Entry, _ epoch: Int) -> LoadActionList {
        guard epoch == self.epoch, case .resting = state else { return [.cancelTimer(timer)] }
        state = .pausing(timer)
        return []
    }

    mutating func pauseIsOver(_ epoch: Int, _ now: Instant) -> LoadActionList {
        guard epoch == self.epoch else { return [] }
        switch state {
        case .resting, .pausing:
            facts.metrics.backOffTime += now - stageBegan
            return authorise(now)
        default:
            return []
        }
    }
}
