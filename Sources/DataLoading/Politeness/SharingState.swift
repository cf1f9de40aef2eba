// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// How a limiter shares its rates with those of other daemons.
package struct SharingState: Hashable, Sendable {
    /// Where the slots of rates come from.
    package enum Source: Hashable, Sendable {
        /// The store.
        case store
        /// The daemon's own share of each rate, because the store does not answer.
        case ownShare
        /// Nowhere: the store does not answer, and the policy is to pause.
        case none
    }

    package let source: Source
    /// The number of daemons that reached the store when it last answered; 1 before it has.
    package let present: Int
    /// The number of daemons among which rates are divided; the expected one before the store has told.
    package let known: Int
    /// The number of slots that the store has leased to this daemon since the start.
    package let leased: Int64
    /// How many of those loads have used; the others were too late, or wait.
    package let used: Int64
    /// The number of keys whose slots the store refuses while it gives those of others.
    package let refused: Int

    package init(
        source: Source, present: Int, known: Int, leased: Int64 = 0, used: Int64 = 0,
        refused: Int = 0
    ) {
        self.source = source
        self.present = present
        self.known = known
        self.leased = leased
        self.used = used
        self.refused = refused
    }
}

extension RateLimiter {
    /// How rates are shared; nil for rates of this daemon only.
    package var sharingState: SharingState? {
        withTable { table, clock in
            guard table.isShared, let shared = table.shared else { return nil }
            let source: SharingState.Source =
                switch shared.circuit.mode(shared.policy, at: clock.now) {
                case .shared: .store
                case .share: .ownShare
                case .paused: .none
                }
            return SharingState(
                source: source, present: shared.members.present, known: shared.members.known,
                leased: shared.leasedCount, used: shared.usedCount,
                refused: source == .store ? shared.refusedCount : 0)
        }
    }
}
