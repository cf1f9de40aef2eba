// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What an authoriser has, and what it does about what it lacks: the pure part.
///
/// ```
///         ask               arrived
/// none ─────────▶ fetching ─────────▶ ready ─┐ renewal due: renewing beside its use
///                  │   ▲ ▲            │  │ ▲ │
///           failed │   │ └── expired ─┘  │ └─┘
///                  ▼   │ pause over      │ a server said no
///              backingOff                ▼
///                      └───── ask ──── refused
/// ```
///
/// Credentials have versions, so that a refusal concerns the one that was sent and no other. Resets
/// have generations, so that a flight from before one brings nothing.
struct CredentialState<Credential: Sendable>: Sendable {
    /// When to fetch, and how often at most.
    let rules: CredentialRules
    private(set) var stage = Stage.none(previous: nil)
    private(set) var generation = 0
    private var flights = 0
    private var version = 0
    /// The flight that brought the newest credential.
    private var lastArrived = 0
    /// The flight that a person is asked for, or that takes long: while something lasts, nobody waits.
    private var slow = 0
    private var starts: [Instant] = []
    private var timer: ExponentialTimer?

    init(_ rules: CredentialRules, first: Credential? = nil) {
        self.rules = rules
        timer = rules.backOff
        if let first { issue(Fetched(first, lifetime: nil), now: Instant(nanoseconds: 0)) }
    }

    /// A request wants to be authorised; a flight that comes back has to be begun.
    ///
    /// One that was refused with a credential waits for another one as long as there may be one.
    mutating func ask(
        now: Instant, refused: CredentialStamp? = nil
    ) -> (Answer, begin: Flight?) {
        switch stage {
        case .ready(let issued, _?) where issued.isDoubted && stamp(issued) == refused:
            return (.wait, nil)
        case .ready(var issued, let renewing) where now < issued.expiry:
            var flight: Flight?
            if renewing == nil, now >= issued.renewal {
                flight = takeOff(from: issued.start, now: now)
                // Refused by the window: not asked again with every request.
                if flight == nil { issued.renewal = now + rules.window }
            }
            stage = .ready(issued, renewing: renewing ?? flight)
            return (.use(issued.credential, stamp(issued)), flight)
        case .ready(_, let renewing?):
            stage = .fetching(renewing, beside: nil)
            return (.wait, nil)
        case .ready(let issued, nil):
            if let setback = issued.setback, now < setback.until {
                return (.fail(setback.error), nil)
            }
            return fetch(from: issued.start, now: now)
        case .refused(let issued):
            // One resource that takes nothing must not keep the others from being asked.
            let lasts = now < issued.expiry
            if let setback = issued.setback, now < setback.until {
                let answer: Answer =
                    lasts ? .use(issued.credential, stamp(issued)) : .fail(setback.error)
                return (answer, nil)
            }
            if lasts, !mayTakeOff(now: now) {
                return (.use(issued.credential, stamp(issued)), nil)
            }
            return fetch(from: issued.start, beside: lasts ? issued.doubted : nil, now: now)
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

    /// Somebody wants a new credential whatever there is, which is kept until there is one.
    mutating func refresh(now: Instant) -> Flight? {
        let start: Credential?
        var beside: Issued?
        switch stage {
        case .fetching, .resetting:
            return nil
        case .ready(let issued, let renewing?):
            if renewing.number != slow { stage = .fetching(renewing, beside: issued) }
            return nil
        case .ready(let issued, nil):
            beside = issued
            start = issued.start
        case .refused(let issued):
            beside = issued.doubted
            start = issued.start
        case .none(let previous), .backingOff(_, _, let previous):
            start = previous
        }
        guard let flight = takeOff(from: start, now: now) else { return nil }
        stage = .fetching(flight, beside: beside)
        return flight
    }

    /// A server refused a credential; returns it, the first time, unless it was replaced.
    mutating func refused(_ stamp: CredentialStamp) -> Credential? {
        switch stage {
        case .ready(let issued, nil) where self.stamp(issued) == stamp:
            stage = .refused(issued)
            return issued.isDoubted ? nil : issued.credential
        case .ready(let issued, let flight?) where self.stamp(issued) == stamp,
            .fetching(let flight, beside: let issued?) where self.stamp(issued) == stamp:
            guard !issued.isDoubted else { return nil }
            stage =
                flight.number == slow
                ? .ready(issued.doubted, renewing: flight)
                : .fetching(flight, beside: issued.doubted)
            return issued.credential
        default:
            return nil
        }
    }

    /// A flight needs a person, or takes long: what lasts is used meanwhile, doubted or not.
    ///
    /// One resource that takes nothing must not keep the others from being asked. Returns what held
    /// requests hear of it, but for those that were refused with just that.
    mutating func takesLong(_ number: Int, now: Instant) -> Answer? {
        guard let flight, flight.number == number else { return nil }
        slow = number
        guard case .fetching(_, beside: let issued?) = stage, now < issued.expiry else {
            return nil
        }
        stage = .ready(issued, renewing: flight)
        return .use(issued.credential, stamp(issued))
    }

    /// A flight has learnt that nothing can come of a credential any more which a server did not take.
    mutating func endsDoubted(_ number: Int) {
        guard case .fetching(let flight, beside: let issued?) = stage, flight.number == number,
            issued.isDoubted
        else { return }
        stage = .fetching(flight, beside: nil)
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

    /// A flight has failed, or takes too long; returns what held requests hear of it, if anything.
    mutating func failed(
        _ error: any Error, _ flight: Flight, now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Answer? {
        guard let current = self.flight, current.number == flight.number else { return nil }
        let pause = timer?.timeIntervalAndCalculateNext(using: &random)
        let next = pause.map { now + $0 }
        // Refused for good: the version that was used is gone, and no other.
        let isRefused = rules.endsCredential(error)
        let previous = isRefused ? nil : flight.previous
        switch stage {
        // Neither a server takes the credential, nor does it help to get another one.
        case .ready(let issued, _) where !(isRefused && issued.isDoubted):
            stage = .ready(setBack(issued, error, isRefused, next, now), renewing: nil)
            // Whoever waits was refused with it.
            guard issued.isDoubted else { return nil }
            return now < issued.expiry ? .use(issued.credential, stamp(issued)) : .fail(error)
        case .fetching(_, beside: let issued?)
        where now < issued.expiry && !(isRefused && issued.isDoubted):
            stage = .ready(setBack(issued, error, isRefused, next, now), renewing: nil)
            return .use(issued.credential, stamp(issued))
        default:
            stage = .none(previous: previous)
            if let next {
                stage = .backingOff(until: next, because: error, previous: previous)
            }
            return .fail(error)
        }
    }

    /// What lasts though its renewal has failed.
    ///
    /// Without pauses it is not tried again before its time; what a server did not take has one.
    private func setBack(
        _ issued: Issued, _ error: any Error, _ isRefused: Bool, _ next: Instant?, _ now: Instant
    ) -> Issued {
        var issued = issued
        if isRefused {
            // Good for nothing but its use: whatever comes next begins when that ends.
            issued.helps = false
            issued.renewal = max(next ?? now, issued.expiry)
        } else if let next {
            issued.setback = (error, next)
            issued.renewal = next
        } else if issued.isDoubted {
            issued.setback = (error, now + rules.window)
        }
        return issued
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
        case .fetching(let flight, _), .ready(_, let flight?): flight
        default: nil
        }
    }

    /// The newest credential, usable or not.
    private var known: Credential? {
        switch stage {
        case .none(let previous), .backingOff(_, _, let previous): previous
        case .fetching(let flight, let issued): issued?.credential ?? flight.previous
        case .ready(let issued, _), .refused(let issued): issued.credential
        case .resetting: nil
        }
    }

    private mutating func fetch(
        from previous: Credential?, beside: Issued? = nil, now: Instant
    ) -> (Answer, begin: Flight?) {
        guard let flight = takeOff(from: previous, now: now) else {
            stage = .none(previous: previous)
            return (.fail(AuthorisationError.tooManyRefreshes), nil)
        }
        stage = .fetching(flight, beside: beside)
        return (.wait, flight)
    }

    /// Whether there were not too many flights lately.
    private mutating func mayTakeOff(now: Instant) -> Bool {
        let window = rules.window
        starts.removeAll { $0 + window <= now }
        return starts.count < rules.mostInWindow
    }

    private mutating func takeOff(from previous: Credential?, now: Instant) -> Flight? {
        guard mayTakeOff(now: now) else { return nil }
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
