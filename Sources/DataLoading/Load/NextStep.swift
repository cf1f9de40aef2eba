// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The step after an attempt: a retry, a redirect, another address, the end.
indirect enum NextStep: Sendable {
    /// Authorise again and send once more, after a 401.
    case authoriseAgain
    /// Send the request that a redirect asks for.
    case follow(Redirection.Next)
    /// Send again after a pause; the cost was taken from the budget.
    case retry(after: Duration, cost: RetryCost?)
    /// Pause as for a retry: the attempt was skipped.
    case standBack(for: Duration)
    /// Make an attempt that was to be skipped, because it is the last.
    case tryAnyway
    /// Drop the broken response, whose rest is not available.
    case startOver(then: NextStep)
    /// Pause until there is a connection.
    case waitForConnectivity(Duration, ExponentialTimer)
    /// Send the same attempt to another address; the slots are still held.
    case dial(HostResolver.Candidate)
    /// Ask for slots for the same attempt.
    case apply
    /// Send again, on a fresh connection, in place of an attempt that the server did not process or
    /// may process twice.
    case replace
    /// Ask the request's own policy.
    case askPolicy(TransportFailure, isSpared: Bool)
    /// Ask the owner for a body in place of one that was used up; end with an outcome if there is
    /// none.
    case renewBody(then: NextStep, otherwise: DataLoaderError?)
    /// Deliver the stored response.
    case useStored(StoredUse)
    /// Send once more without the conditions that the cache added, and for no range: the 304 was
    /// about another response, the stored one cannot be read, or no range continues the part.
    case fetchWhole
    /// End, with an error or with the response that is there.
    case finish(DataLoaderError?)

    /// The cost of the step, which was taken from a budget.
    var cost: RetryCost? {
        switch self {
        case .retry(_, let cost): cost
        case .startOver(let next), .renewBody(let next, _): next.cost
        default: nil
        }
    }
}
