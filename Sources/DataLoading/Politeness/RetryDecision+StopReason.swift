// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension RetryDecision.Reason {
    /// The reason that the owner of the load receives.
    func stopReason(
        for finished: FinishedAttempt, _ circumstances: RetryPlanner.Circumstances
    ) -> DataLoaderError.StopReason {
        switch self {
        case .maximum: .retriesUsedUp
        case .budget: .budgetEmpty
        case .deadline: .deadlineTooNear
        case .retryAfter: .retryAfterTooLong
        case .policy: finished.stopReason(of: circumstances)
        case .notRetryable: finished.stopReason
        }
    }
}

extension FinishedAttempt {
    /// The reason when the policy returned nil, or when the request has no policy.
    fileprivate func stopReason(
        of circumstances: RetryPlanner.Circumstances
    ) -> DataLoaderError.StopReason {
        // Without a policy, only an outcome that is no sign of trouble stops for this reason.
        guard let policy = circumstances.policy else { return .permanent }
        guard let builtIn = policy as? BuiltInRetryPolicy else { return .policy }
        if RetryClassification(self) == .ifAsked { return .permanent }
        let isUsedUp = builtIn.isUsedUp(afterAttempt: circumstances.retries + 1)
        return isUsedUp ? .retriesUsedUp : .policy
    }

    /// The reason why an attempt is never retried.
    fileprivate var stopReason: DataLoaderError.StopReason {
        if isDelivered { return .alreadyDelivered }
        guard bodyIsReplayable else { return .notRepeatable }
        var repeatable = self
        repeatable.mayBeSentTwice = true
        switch RetryClassification(repeatable) {
        case .never, .ifAsked: return .permanent
        case .transient, .throttled: return .notRepeatable
        }
    }
}
