// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What an authoriser has, and what it does about what it lacks: the pure part.
///
/// ```
///            ask                    ended(success)
/// none ───────────────▶ fetching ────────────────▶ ready ─┐ renewal due: renewing
///  ▲  ▲                    │                         │ ▲  │ beside what is there
///  │  └── pause over ──┐   │ ended(failure)   refused│ └──┘
///  │                backingOff ◀                     │
///  └──────────────────────────────── expired ◀───────┘
/// ```
///
/// Credentials have versions, so that a refusal concerns the one that was sent and no other. Resets
/// have generations, so that a flight from before one brings nothing.
struct CredentialState<Credential: Sendable>: Sendable {
    /// One way to get a credential: one call of the fetch.
    struct Flight: Sendable {
        let number: Int
        let generation: Int
        /// What there was before; the version that a refusal of the flight deletes.
        let previous: Credential?
    }

    /// A credential that can be used until it expires.
    struct Issued: Sendable {
        let credential: Credential
        let version: Int
        let expiry: Instant
        /// From when on a newer one is fetched.
        var renewal: Instant
        /// Why the last attempt to renew it failed: nobody sets out before `renewal`.
        var setback: (any Error)?
    }

    enum Stage: Sendable {
        /// Nothing to use; what there was may help to get the next one.
        case none(previous: Credential?)
        /// Nothing to use before a flight has ended.
        case fetching(Flight)
        /// Something to use; perhaps a flight is under way already to renew it in time.
        case ready(Issued, renewing: Flight?)
        /// The last flight failed; before the instant nobody sets out again.
        case backingOff(until: Instant, because: any Error, previous: Credential?)
        /// Being reset.
        case resetting
    }

    /// What becomes of a request that wants to be authorised.
    enum Answer: Sendable {
        case use(Credential, CredentialStamp)
        case wait
        case fail(any Error)
    }

    /// When to fetch, and how often at most.
    let rules: CredentialRules
    private(set) var stage = Stage.none(previous: nil)
    private(set) var generation = 0
    private var flights = 0
    private var version = 0
    /// The flight that brought the newest credential.
    private var lastArrived = 0
    private var starts: [Instant] = []
    private var timer: ExponentialTimer?

    init(_ rules: CredentialRules, first: Credential? = nil) {
        self.rules = rules
        timer = rules.backOff
        if let first { issue(Fetched(first, lifetime: nil), now: Instant(nanoseconds: 0)) }
    }

    /// A request wants to be authorised; a flight that comes back has to be begun.
    mutating func ask(now: Instant) -> (Answer, begin: Flight?) {
        switch stage {
        case .ready(var issued, let renewing) where now < issued.expiry:
            var flight: Flight?
            if renewing == nil, now >= issued.renewal {
                flight = takeOff(from: issued.credential, now: now)
                // Refused by the window: not asked again with every request.
                if flight == nil { issued.renewal = now + rules.window }
            }
            stage = .ready(issued, renewing: renewing ?? flight)
            return (.use(issued.credential, stamp(issued)), flight)
        case .ready(_, let renewing?):
            stage = .fetching(renewing)
            return (.wait, nil)
        case .ready(let issued, nil):
            if let setback = issued.setback, now < issued.renewal { return (.fail(setback), nil) }
            return fetch(from: issued.credential, now: now)
        case .none(let previous):
            return fetch(from: previous, now: now)
        case .fetching:
            return (.wait, nil)
        case .backingOff(let until, let error, let previous):
            return now < until ? (.fail(error), nil) : fetch(from: previous, now: now)
        case .resetting:
            return (.fail(AuthorisationError.reset), nil)
        }
    }

    /// Somebody wants a new credential whatever there is.
    mutating func refresh(now: Instant) -> Flight? {
        switch stage {
        case .fetching, .resetting:
            return nil
        case .ready(_, let renewing?):
            stage = .fetching(renewing)
            return nil
        case .ready(let issued, nil):
            return fetch(from: issued.credential, now: now).begin
        case .none(let previous), .backingOff(_, _, let previous):
            return fetch(from: previous, now: now).begin
        }
    }

    /// A server refused a credential, which is not used any more; returns it, unless it was replaced.
    mutating func refused(_ stamp: CredentialStamp) -> Credential? {
        guard case .ready(let issued, let renewing) = stage, self.stamp(issued) == stamp else {
            return nil
        }
        if let renewing {
            stage = .fetching(renewing)
        } else {
            stage = .none(previous: rules.keepsRefused ? issued.credential : nil)
        }
        return issued.credential
    }

    /// Whether a newer credential has come than the stamp's.
    func hasNewer(than stamp: CredentialStamp) -> Bool {
        guard case .ready(let issued, _) = stage else { return false }
        return self.stamp(issued) != stamp
    }

    /// A flight has brought a credential; false when nobody wants it, else held requests ask again.
    mutating func arrived(
        _ fetched: Fetched<Credential>, by flight: Flight, now: Instant
    ) -> Bool {
        // One that was given up may still bring what nobody else has: a rotated refresh token.
        guard flight.generation == generation, flight.number > lastArrived else { return false }
        let current = self.flight
        lastArrived = flight.number
        timer = rules.backOff
        issue(fetched, now: now)
        if let current, current.number != flight.number, case .ready(let issued, _) = stage {
            stage = .ready(issued, renewing: current)
        }
        return true
    }

    /// A flight has failed, or takes too long; returns whether held requests fail with it.
    mutating func failed(
        _ error: any Error, _ flight: Flight, now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let current = self.flight, current.number == flight.number else { return false }
        let pause = timer?.timeIntervalAndCalculateNext(using: &random)
        // Refused for good: the version that was used is gone, and no other.
        let isRefused = (error as? AuthorisationError)?.endsCredential ?? false
        let previous = isRefused ? nil : flight.previous
        if case .ready(var issued, _) = stage {
            issued.renewal = now + (pause ?? .zero)
            issued.setback = error
            stage = .ready(issued, renewing: nil)
            return false
        }
        if let pause {
            stage = .backingOff(until: now + pause, because: error, previous: previous)
        } else {
            stage = .none(previous: previous)
        }
        return true
    }

    /// Forgets everything, and what is under way; returns what there was.
    mutating func beginReset() -> Credential? {
        let last = known
        generation += 1
        starts = []
        timer = rules.backOff
        stage = .resetting
        return last
    }

    mutating func endReset() {
        if case .resetting = stage { stage = .none(previous: nil) }
    }

    /// The flight that is under way and was not given up.
    var flight: Flight? {
        switch stage {
        case .fetching(let flight), .ready(_, let flight?): flight
        default: nil
        }
    }

    /// The newest credential, usable or not.
    private var known: Credential? {
        switch stage {
        case .none(let previous), .backingOff(_, _, let previous): previous
        case .fetching(let flight): flight.previous
        case .ready(let issued, _): issued.credential
        case .resetting: nil
        }
    }

    private mutating func fetch(
        from previous: Credential?, now: Instant
    ) -> (Answer, begin: Flight?) {
        guard let flight = takeOff(from: previous, now: now) else {
            stage = .none(previous: previous)
            return (.fail(AuthorisationError.tooManyRefreshes), nil)
        }
        stage = .fetching(flight)
        return (.wait, flight)
    }

    /// A flight, unless there were too many lately.
    private mutating func takeOff(from previous: Credential?, now: Instant) -> Flight? {
        let window = rules.window
        starts.removeAll { $0 + window <= now }
        guard starts.count < rules.mostInWindow else { return nil }
        starts.append(now)
        flights += 1
        return Flight(number: flights, generation: generation, previous: previous)
    }

    private mutating func issue(_ fetched: Fetched<Credential>, now: Instant) {
        version += 1
        var expiry = Instant.distantFuture
        var renewal = Instant.distantFuture
        if let lifetime = fetched.lifetime {
            expiry = now + lifetime
            renewal = expiry + (.zero - min(rules.renewsEarly, lifetime / 10))
        }
        let issued = Issued(
            credential: fetched.credential, version: version, expiry: expiry, renewal: renewal)
        stage = .ready(issued, renewing: nil)
    }

    private func stamp(_ issued: Issued) -> CredentialStamp {
        CredentialStamp(generation: generation, version: issued.version)
    }
}
