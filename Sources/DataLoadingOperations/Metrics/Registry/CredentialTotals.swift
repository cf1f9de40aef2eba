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

    /// An authoriser as it was at the last look; it may be absent for a while and come back.
    private struct Seen: Sendable {
        weak let holder: (any ObservableAuthoriser)?
        let state: CredentialState
    }

    /// The number of names that have a label of their own; the others have one together.
    static let maxNames = 64

    private var totals: [String: Total] = [:]
    private var seen: [ObjectIdentifier: Seen] = [:]

    /// Adds what authorisers have counted since the last look; returns the totals, and the states, by
    /// name.
    ///
    /// It asks them itself, so that two looks at once count nothing twice.
    mutating func look(
        at holders: [any ObservableAuthoriser]
    ) -> [String: (total: Total, states: [CredentialState])] {
        seen = seen.filter { $0.value.holder != nil }
        var found: [String: [CredentialState]] = [:]
        for holder in holders {
            let state = holder.credentialState
            let name = label(of: state.authoriser)
            found[name, default: []].append(state)
            let old = seen.updateValue(
                Seen(holder: holder, state: state), forKey: ObjectIdentifier(holder))?.state
            var total = totals[name] ?? Total()
            total.fetches.addSaturated(Int64(max(0, state.fetches - (old?.fetches ?? 0))))
            total.failures.addSaturated(Int64(max(0, state.failures - (old?.failures ?? 0))))
            totals[name] = total
        }
        return Dictionary(
            uniqueKeysWithValues: totals.map { ($0.key, ($0.value, found[$0.key] ?? [])) })
    }

    private func label(of name: String) -> String {
        let name = name.cutForLabel
        let isKnown = totals[name] != nil || totals.count < Self.maxNames
        return isKnown ? name : LabelNames.other
    }
}
