// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The decision about a response: whether it is delivered, appended, discarded or held.
enum Verdict: Sendable {
    /// It is the load's response; with the reason for no retry, where one was considered.
    case deliver(DataLoaderError.StopReason?)
    /// It is the rest of the load's response, up to the end of a range.
    case append(ContentRange)
    /// It is not delivered; this step comes next.
    case discard(then: NextStep)
    /// It is kept, and delivered only if the next step ends the load with it.
    case hold(then: NextStep)

    /// The cost of the next step, which was taken from a budget.
    var cost: RetryCost? {
        switch self {
        case .deliver, .append: nil
        case .discard(let next), .hold(let next): next.cost
        }
    }
}
