// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension RateLimiter {
    /// Lets the rates hold for all daemons together that share through the same store.
    ///
    /// Every rate that is above zero is then taken from a line of slots in the store, each slot by one
    /// daemon; without loads nothing is taken. Daemons with loads get equal shares, however many loads
    /// each has. A `Retry-After` closes its key for all of them. What waits, for how long and in which
    /// order is as without a store, and so are rates of zero and hosts without a rate, except that the
    /// daemons divide the 10 requests a second with which such a host begins after a `Retry-After`.
    ///
    /// For a rate of R a second, a burst of b and N daemons, all of them together start:
    /// - while the store answers: at most b + R·t loads in any t seconds, and R/40 more, because a
    ///   slot may be used up to 25 ms late, or by its interval if that is longer;
    /// - after the store has lost what it knew, or its clock was set: once R/5 loads more, rounded up,
    ///   or 2·N if that is more, and b;
    /// - while k of them do not reach it: up to R·(1 + k/N) for the 3 s that the others need to
    ///   notice, and R then. After 30 s the others use all of R, so that `.share(for: nil)` means up
    ///   to R·(1 + k/N), less than 2·R, for as long as it takes; `.share(for: .seconds(30))` means R;
    /// - after the first of them has begun: R times the part of the expected daemons that is there,
    ///   for about a second.
    ///
    /// Loads that another daemon's `Retry-After` concerns still start for the window of the provider,
    /// 100 ms, and the time of an answer; without a rate for about a second. When the store does not
    /// answer, loads wait up to 250 ms for it, 100 ms if it has answered within 25 lately, once and not
    /// each, and then use the daemon's own share of the rate, R/N without bursts. No load fails of it;
    /// one whose deadline comes before its slot ends `.rateLimited(wait:)`. `clearRetryAfter(for:)`
    /// opens a key until the store says again that it is closed. A key whose slots the store refuses
    /// while it gives those of others is lost like a store, alone and for as long as that lasts; the
    /// other daemons do not notice it, and so do not lower their part.
    ///
    /// The provider says goodbye when the last service with this limiter ends; services that are made
    /// later use R/N. Only the first call has an effect. Call it before or after services are made.
    ///
    /// - Parameters:
    ///   - provider: The way to the store.
    ///   - expectedMembers: The number of daemons, until the store tells. With less than one every
    ///     load ends `.invalidConfiguration`.
    ///   - whenLost: What to do while the store does not answer; by default the daemon uses its share
    ///     for as long as it takes. With a time below zero every load ends `.invalidConfiguration`.
    public func share(
        through provider: any QuotaProvider, expectedMembers: Int,
        whenLost: LossPolicy = .share(for: nil)
    ) {
        if expectedMembers < 1 {
            note(.malformed("RateLimiter.share", "expects less than one"), ofSetting: "share")
        }
        if case .share(for: let limit?) = whenLost, limit < .zero {
            note(.malformed("LossPolicy.share", "has a time below zero"), ofSetting: "whenLost")
        }
        join(
            FleetMembership(
                provider: provider, expectedMembers: expectedMembers, policy: whenLost))
    }
}
