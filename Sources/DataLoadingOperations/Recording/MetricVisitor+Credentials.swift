// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

extension MetricVisitor {
    /// Adds the states of credentials, by the names of their authorisers; one that does not expire
    /// has no remaining time.
    func add(
        _ credentials: [String: (total: CredentialTotals.Total, states: [CredentialState])]
    ) {
        guard !credentials.isEmpty else { return }
        let byLabels = credentials.map { (CredentialLabels(authoriser: $0.key), $0.value) }
        let remaining = byLabels.compactMap { labels, found in
            found.states.compactMap(\.secondsLeft).min().map { (labels, $0) }
        }
        if !remaining.isEmpty { begin(.credentialRemaining) }
        for (labels, seconds) in remaining { add(.real(seconds), labels) }
        begin(.credentialFetches)
        for (labels, found) in byLabels { add(.whole(found.total.fetches), labels) }
        begin(.credentialFailures)
        for (labels, found) in byLabels { add(.whole(found.total.failures), labels) }
        begin(.credentialWaiting)
        for (labels, found) in byLabels {
            add(.whole(found.states.reduce(0) { $0 + Int64($1.waiting) }), labels)
        }
    }
}

extension CredentialState {
    fileprivate var secondsLeft: Double? {
        isUsable ? remaining?.inSeconds : 0
    }
}
