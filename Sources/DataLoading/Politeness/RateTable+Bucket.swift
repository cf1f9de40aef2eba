// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension RateTable {
    /// The slots and the gate of a key that is not idle.
    struct Bucket: Sendable {
        var slots = GCRA()
        var gate: Instant?
        /// The limit of the key's rule, so that most loads look up no rule; nil for another rule.
        var limit: GCRA.Rate?
        var counts = Counts()

        mutating func reserve(at now: Instant, _ rate: GCRA.Rate) -> Reservation {
            if let start = slots.reserve(at: now, notBefore: gate, rate: rate) {
                return .wait(until: start)
            }
            counts.admitted.addSaturated(1)
            return .granted
        }

        /// Takes a slot after a gate, at a rate that holds until an instant.
        ///
        /// The debt of a limit that was lifted, or of the rate before, counts as one interval.
        mutating func recover(
            at now: Instant, _ rate: GCRA.Rate, until change: Instant
        ) -> Reservation {
            slots.change(to: rate, at: now)
            guard case .wait(let start) = reserve(at: now, rate) else { return .granted }
            return .wait(until: min(start, change))
        }

        /// Takes a slot of the daemon's own share, of a rate that is all daemons' together.
        mutating func reserve(
            _ share: OwnShare, of perSecond: Double, at now: Instant, _ rate: GCRA.Rate
        ) -> Reservation {
            slots.skip(to: share.begin)
            let first = slots.start(position: 0, at: now, notBefore: gate, rate: rate)
            if let line = share.line, share.count(from: first, of: perSecond) == 0 {
                return .wait(until: line.nextLook)
            }
            guard case .wait(let start) = reserve(at: now, rate) else { return .granted }
            return .wait(until: min(start, share.line?.nextLook ?? start))
        }
    }
}
