// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingCache
import DataLoadingTransport

extension Judge {
    /// Returns the step after a 304 to the conditions that the cache has added; nil for any other
    /// response.
    ///
    /// An attempt that continues a body which broke carries none of them: its 304 confirms nothing
    /// (RFC 9111 section 4.3.3), and what is stored is no rest of the bytes before.
    func validated(_ head: ResponseHead) -> NextStep? {
        guard head.status == .notModified, facts.resumption.broken == nil,
            let recall = facts.recalled, recall.isValidation, let stored = recall.stored,
            let begun = facts.attemptBegan
        else { return nil }
        let times = ResponseTimes(
            requested: begun, received: CacheMoment(of: runtime.timekeeper))
        let confirmed = stored.response.confirmed(
            by: head, to: recall.request.headers, times: times, hasQuery: facts.hasQuery,
            runtime.cache?.heuristic ?? HeuristicFreshness())
        guard let confirmed else { return .fetchWhole }
        return .useStored(
            .confirmed(
                StoredAnswer(response: confirmed, body: stored.body), was: stored.response,
                mayStay: facts.mayStay(confirmed)))
    }
}
