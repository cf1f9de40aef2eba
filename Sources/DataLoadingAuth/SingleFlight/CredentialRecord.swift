// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// Decides when an authoriser uses, fetches and renews its credential; it has no lock and no clock.
///
/// A credential is used until it expires. A fetch begins when there is none, when it is due for
/// renewal, and when a server has refused it: one fetch at a time, none during the pause after a
/// failed one, and at most five in 30 seconds.
///
/// A credential that a server has refused is *doubted*. Loads wait for the fetch of another one.
/// When no fetch may begin, or the fetch has failed, the doubted credential is used: the refusal
/// may concern one resource. The first credentials that are refused soon after their issue are
/// replaced at once, the next ones after growing pauses. A resource that refuses every credential
/// therefore causes few fetches.
///
/// A credential's version is the number of the fetch that brought it. A refusal concerns the
/// version that was sent. The results of older fetches, and of fetches from before a reset, are
/// dropped.
struct CredentialRecord<Credential: Sendable>: Sendable {
    let rules: CredentialRules
    /// The newest credential, perhaps expired; nil when there is none, or it must not be used.
    private(set) var issued: Issued?
    /// The running fetch; nil once it has timed out.
    private(set) var fetch: Fetch?
    /// The credential from which the next fetch starts.
    private var seed: Credential?
    /// The pause after a failed fetch, and its error.
    private var pause: (until: Instant, because: any Error)?
    /// The instants at which the last fetches began.
    private var starts: [Instant] = []
    private var backOff: ExponentialTimer?
    /// The pauses between replacements; nil while no refusal followed another.
    private var replacementPauses: CredentialRules.ReplacementPauses?
    /// The issue of the first credential after the last refusal.
    private var unrefusedSince = Instant(nanoseconds: 0)
    private var resets = 0
    /// The number of fetches that have begun, and of those that have failed.
    private(set) var fetches = 0
    private(set) var failures = 0
    /// Whether the last fetch that has ended failed.
    private(set) var hasFailed = false
    /// The error of the last fetch that failed.
    private(set) var lastFailure: (any Error)?
    /// The newest credential's version.
    private var version = 0
    /// The number of fetches in a row that brought a credential which had expired already.
    private var expiredArrivals = 0
    private var isResetting = false

    init(_ rules: CredentialRules, first: Credential? = nil) {
        self.rules = rules
        backOff = rules.backOff
        if let first { issue(Fetched(first, lifetime: nil), 0, now: Instant(nanoseconds: 0)) }
    }

    /// Answers a request for authorisation; the caller begins the returned fetch.
    ///
    /// A request that a server has refused with a credential waits while another one may come.
    mutating func ask(
        now: Instant, refused: CredentialStamp? = nil
    ) -> (Answer, begin: Fetch?) {
        guard !isResetting else { return (.fail(AuthorisationError.reset), nil) }
        let begun = beginIfDue(now: now)
        let usable = usable(now: now)
        if let usable, !usable.isDoubted { return (.use(usable), begun) }
        if let fetch {
            guard let usable, fetch.allowsUse, usable.stamp != refused else {
                return (.wait, begun)
            }
            return (.use(usable), begun)
        }
        if let usable { return (.use(usable), nil) }
        let failure = pause.flatMap { now < $0.until ? $0.because : nil }
        return (.fail(failure ?? AuthorisationError.tooManyRefreshes), nil)
    }

    /// Records a refusal; returns whether another credential exists or may be fetched at once.
    mutating func refused(
        _ stamp: CredentialStamp, now: Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let issued, issued.stamp == stamp else { return true }
        if !issued.isDoubted {
            if now - unrefusedSince >= rules.replacementPauses.lifetime { replacementPauses = nil }
            var current = replacementPauses ?? rules.replacementPauses
            let renewal = now + current.nextPause(using: &random)
            replacementPauses = current
            self.issued?.isDoubted = true
            self.issued?.renewal = min(issued.renewal, renewal)
        } else if rules.backOff == nil {
            // Without a back-off each further refusal begins one fetch, which may ask a person.
            self.issued?.renewal = min(issued.renewal, now)
        }
        return fetch != nil || isDue(now: now)
    }

    /// Lets loads use the present credential during a fetch that takes long, doubted or not.
    ///
    /// Returns the credential, which is for all waiters except those refused with it.
    mutating func takesLong(_ number: Int, now: Instant) -> Issued? {
        guard fetch?.number == number else { return nil }
        fetch?.allowsUse = true
        return usable(now: now)
    }

    /// Removes the doubted credential: a fetch has reported that it must not be used.
    mutating func endsDoubted(_ number: Int) {
        if fetch?.number == number, issued?.isDoubted == true { issued = nil }
    }

    /// Records a fetch's report that its seed is invalid; its failure then ends the credential.
    mutating func endsSeed(_ number: Int) {
        if fetch?.number == number { fetch?.endsSeed = true }
    }

    /// Records the result of a fetch; drops it and returns false when the record is newer.
    ///
    /// One may expire on its way, and is replaced at once. Where each does, as with `expires_in` 0,
    /// fetches pause as after failures: each may cost a refresh token.
    mutating func arrived(
        _ fetched: Fetched<Credential>, by ended: Fetch, now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        // A fetch that has timed out may still bring the only valid refresh token.
        guard ended.number > version else { return false }
        if fetch?.number == ended.number { fetch = nil }
        pause = nil
        hasFailed = false
        issue(fetched, ended.number, now: now)
        guard let lifetime = fetched.lifetime, lifetime <= .zero else {
            expiredArrivals = 0
            backOff = rules.backOff
            return true
        }
        expiredArrivals = min(expiredArrivals + 1, rules.maxInWindow)
        if expiredArrivals == rules.maxInWindow {
            let length = backOff?.timeIntervalAndCalculateNext(using: &random)
            pause = length.map { (now + $0, AuthorisationError.tooManyRefreshes) }
        }
        return true
    }

    /// Records a failed or timed-out fetch; returns its waiters' answer, nil for an older fetch.
    mutating func failed(
        _ error: any Error, _ number: Int, now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Answer? {
        guard let ended = fetch, ended.number == number else { return nil }
        fetch = nil
        failures += 1
        hasFailed = true
        lastFailure = error
        // The error concerns the version that the fetch began with, and no newer one.
        if ended.endsSeed || rules.endsCredential(error), ended.version == version {
            seed = nil
            if let expiry = issued?.expiry { issued?.renewal = expiry }
            if issued?.isDoubted == true { issued = nil }
        }
        let length =
            backOff?.timeIntervalAndCalculateNext(using: &random)
            ?? (issued?.isDoubted == true ? rules.window : nil)
        pause = length.map { (now + $0, error) }
        // Without a back-off only another refusal begins a fetch, which may ask a person.
        if backOff == nil, let issued, issued.isDoubted { self.issued?.renewal = issued.expiry }
        return usable(now: now).map { .use($0) } ?? .fail(error)
    }

    /// Clears the record and drops the running fetch; returns the newest credential.
    mutating func beginReset() -> Credential? {
        let last = issued?.credential ?? seed
        var empty = Self(rules)
        (empty.resets, empty.fetches, empty.version) = (resets + 1, fetches, fetches)
        (empty.failures, empty.lastFailure) = (failures, lastFailure)
        empty.isResetting = true
        self = empty
        return last
    }

    mutating func endReset() { isResetting = false }

    private func usable(now: Instant) -> Issued? {
        issued.flatMap { now < $0.expiry ? $0 : nil }
    }

    /// Whether another credential is wanted, and a fetch may begin.
    private mutating func isDue(now: Instant) -> Bool {
        guard fetch == nil, issued.map({ now >= $0.renewal }) ?? true else { return false }
        if let pause, now < pause.until { return false }
        let window = rules.window
        starts.removeAll { $0 + window <= now }
        return starts.count < rules.maxInWindow
    }

    private mutating func beginIfDue(now: Instant) -> Fetch? {
        guard isDue(now: now) else { return nil }
        starts.append(now)
        fetches += 1
        let begun = Fetch(
            number: fetches, seed: seed, version: version,
            // After a failed fetch, loads that have a usable credential do not wait.
            allowsUse: pause != nil)
        fetch = begun
        return begun
    }

    private mutating func issue(_ fetched: Fetched<Credential>, _ number: Int, now: Instant) {
        version = number
        seed = fetched.credential
        if issued?.isDoubted ?? true { unrefusedSince = now }
        let stamp = CredentialStamp(generation: resets, version: version)
        issued = Issued(fetched, stamp, rules, now: now)
    }
}
