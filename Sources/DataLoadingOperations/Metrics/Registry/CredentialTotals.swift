// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// How often credentials were fetched, by the names of their authorisers.
///
/// An authoriser counts for itself, and may be gone at the next look: what it had counted then stays.
struct CredentialTotals: Sendable {
    struct Total: Hashable, Sendable {
        var fetches: Int64 = 0
        var failures: Int64 = 0
    }

    /// The number of names that have a label of their own; the others have one together.
    static let maxNames = 64

    private var totals: [String: Total] = [:]
    private var seen: [ObjectIdentifier: CredentialState] = [:]

    /// Adds what authorisers have counted since the last look; returns the totals, and the states, by
    /// name.
    mutating func add(
        _ states: [ObjectIdentifier: CredentialState]
    ) -> [String: (total: Total, states: [CredentialState])] {
        var found: [String: [CredentialState]] = [:]
        for (id, state) in states {
            let name = label(of: state.authoriser)
            found[name, default: []].append(state)
            let old = seen[id].flatMap { $0.isEarlier(than: state) ? $0 : nil }
            totals[name, default: Total()].fetches
                .addSaturated(Int64(state.fetches - (old?.fetches ?? 0)))
            totals[name, default: Total()].failures
                .addSaturated(Int64(max(0, state.failures - (old?.failures ?? 0))))
        }
        seen = states
        return Dictionary(
            uniqueKeysWithValues: totals.map { ($0.key, ($0.value, found[$0.key] ?? [])) })
    }

    private func label(of name: String) -> String {
        let name = name.cutForLabel
        let isKnown = totals[name] != nil || totals.count < Self.maxNames
        return isKnown ? name : LabelNames.other
    }
}

extension CredentialState {
    /// Whether it is of the same authoriser, and not of one that was at its address before.
    fileprivate func isEarlier(than later: CredentialState) -> Bool {
        authoriser == later.authoriser && fetches <= later.fetches
    }
}
