// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where loads wait for an authoriser's credential, and where one flight at a time fetches it.
///
/// It answers whoever asks: at once while there is a credential, else when the flight has ended, in
/// the order of arrival. Users' code runs under no lock.
final class CredentialDesk<Credential: Sendable>: Sendable {
    typealias Flight = CredentialState<Credential>.Flight
    typealias Answer = CredentialState<Credential>.Answer

    private struct Held: Sendable {
        let place: Int
        /// What the load was refused with: it is not sent with that again before it has to be.
        let refused: CredentialStamp?
        let hear: @Sendable (Answer) -> Void
    }

    private struct UnderWay: Sendable {
        let flight: Flight
        let task: Task<Void, Never>
        var limit: Agenda.Entry?
    }

    private struct State: Sendable {
        var credentials: CredentialState<Credential>
        var held: [AuthorisationTicket: Held] = [:]
        var places = 0
        var underWay: [Int: UnderWay] = [:]

        mutating func takeHeld() -> [Held] {
            defer { held = [:] }
            return held.values.sorted { $0.place < $1.place }
        }

        /// Those who hear of a credential that lasts: all but who was refused with it.
        mutating func takeHeld(for answer: Answer) -> [Held] {
            guard case .use(_, let stamp) = answer else { return takeHeld() }
            let waiting = held.filter { $0.value.refused == stamp }
            held = held.filter { $0.value.refused != stamp }
            defer { held = waiting }
            return takeHeld()
        }
    }

    /// Adds a credential to a request.
    let apply: @Sendable (Credential, inout DataLoaderRequest) throws -> Void

    private let state: Locked<State>
    private let agenda: Agenda
    private let random: RandomSource
    private let patience: Duration
    /// Whether a flight that takes longer than the patience has failed.
    private let isLimited: Bool
    private let mostHeld: Int
    private let resetGate = ResetGate()
    private let fetch: Fetch

    /// Gets a credential from what there was before, nil when nobody gives any.
    typealias Fetch =
        @Sendable (Credential?, _ say: @escaping @Sendable (FlightSign) -> Void) async throws
        -> Fetched<Credential>?

    /// Makes a desk, with a credential from the start or without.
    ///
    /// `apply` adds a credential to a request.
    init(
        _ rules: CredentialRules, first: Credential? = nil, agenda: Agenda,
        random: RandomSource = .system,
        apply: @escaping @Sendable (Credential, inout DataLoaderRequest) throws -> Void,
        fetch: @escaping Fetch
    ) {
        state = Locked(State(credentials: CredentialState(rules, first: first)))
        patience = rules.limit ?? rules.patience
        isLimited = rules.limit != nil
        mostHeld = rules.mostHeld
        self.agenda = agenda
        self.random = random
        self.apply = apply
        self.fetch = { previous, say in
            try await AuthorisersWork.perform { try await fetch(previous, say) }
        }
    }

    /// How many wait.
    var heldCount: Int { state.withLock { $0.held.count } }

    // MARK: Questions

    /// Answers whoever asks: now, or when there is a credential, another one than it was refused with
    /// if that can be had.
    func ask(
        _ ticket: AuthorisationTicket, refused: CredentialStamp? = nil,
        hear: @escaping @Sendable (Answer) -> Void
    ) {
        let now = agenda.now
        let (answer, flight) = state.withLock { state in
            let (answer, flight) = state.credentials.ask(now: now, refused: refused)
            begin(flight, in: &state)
            if case .wait = answer {
                guard state.held.count < mostHeld else {
                    return (Answer.fail(OwnFault(.overloaded)), flight)
                }
                state.places += 1
                state.held[ticket] = Held(place: state.places, refused: refused, hear: hear)
            }
            return (answer, flight)
        }
        limit(flight)
        if case .wait = answer { return }
        hear(answer)
    }

    /// A ticket that no load has, nor anybody else.
    func freshTicket() -> AuthorisationTicket {
        let place = state.withLock { state in
            state.places += 1
            return state.places
        }
        return AuthorisationTicket(load: ObjectIdentifier(self), turn: place)
    }

    /// Nobody wants to hear any more.
    ///
    /// The flight goes on: it may bring what cannot be had a second time.
    func cancel(_ ticket: AuthorisationTicket) {
        // Let go after the lock.
        _ = state.withLock { $0.held.removeValue(forKey: ticket) }
    }

    /// A server did not accept this; returns what it was, the first time.
    func refused(_ stamp: CredentialStamp) -> Credential? {
        state.withLock { $0.credentials.refused(stamp) }
    }

    /// Whether there is another credential than this.
    func hasNewer(than stamp: CredentialStamp) -> Bool {
        state.withLock { $0.credentials.hasNewer(than: stamp) }
    }

    // MARK: From owners

    /// Fetches a new credential; whoever comes meanwhile waits for it.
    func refresh() {
        let now = agenda.now
        let flight = state.withLock { state in
            let flight = state.credentials.refresh(now: now)
            begin(flight, in: &state)
            return flight
        }
        limit(flight)
    }

    /// Fails whoever waits, forgets everything, and lets `logOut` see to what is elsewhere.
    func reset(_ logOut: @Sendable (Credential?) async -> Void = { _ in }) async {
        await resetGate.perform {
            let (held, underWay, last) = state.withLock { state in
                let last = state.credentials.beginReset()
                let underWay = state.underWay.values
                state.underWay = [:]
                return (state.takeHeld(), Array(underWay), last)
            }
            for flight in underWay { end(flight) }
            for held in held { held.hear(.fail(AuthorisationError.reset)) }
            await logOut(last)
            state.withLock { $0.credentials.endReset() }
        }
    }

    // MARK: Flights

    /// Sets out, under the lock that says so: a reset after it finds the task, and cancels it.
    private func begin(_ flight: Flight?, in state: inout State) {
        guard let flight else { return }
        let task = Task {
            do {
                let say = { @Sendable [weak self] sign in self?.heard(sign, flight.number) ?? () }
                guard let fetched = try await fetch(flight.previous, say) else {
                    throw AuthorisationError.noCredentials
                }
                arrived(fetched, by: flight)
            } catch {
                failed(error, flight)
            }
        }
        state.underWay[flight.number] = UnderWay(flight: flight, task: task)
    }

    /// Sets the time that a flight has.
    private func limit(_ flight: Flight?) {
        guard let flight else { return }
        let entry = agenda.schedule(at: agenda.now + patience, for: self, tag: flight.number)
        let isUnderWay = state.withLock { state in
            state.underWay[flight.number]?.limit = entry
            return state.underWay[flight.number] != nil
        }
        if !isUnderWay { agenda.cancel(entry) }
    }

    private func arrived(_ fetched: Fetched<Credential>, by flight: Flight) {
        let now = agenda.now
        let (answer, next, held, ended) = state.withLock { state in
            let ended = state.underWay.removeValue(forKey: flight.number)
            guard state.credentials.arrived(fetched, by: flight, now: now), !state.held.isEmpty
            else { return (Answer.wait, Flight?.none, [Held](), ended) }
            // It may have expired on its way: then they wait for another one.
            let (answer, next) = state.credentials.ask(now: now)
            begin(next, in: &state)
            if case .wait = answer { return (answer, next, [], ended) }
            return (answer, next, state.takeHeld(), ended)
        }
        if let limit = ended?.limit { agenda.cancel(limit) }
        limit(next)
        for held in held { held.hear(answer) }
    }

    private func failed(_ error: any Error, _ flight: Flight) {
        let now = agenda.now
        let (answer, held, ended) = random.withGenerator { random in
            state.withLock { state in
                let ended = state.underWay.removeValue(forKey: flight.number)
                let answer = state.credentials.failed(error, flight, now: now, using: &random)
                return (answer, answer == nil ? [] : state.takeHeld(), ended)
            }
        }
        if let limit = ended?.limit { agenda.cancel(limit) }
        guard let answer else { return }
        hear(held, answer)
    }

    private func heard(_ sign: FlightSign, _ number: Int) {
        switch sign {
        case .takesLong: takesLong(number)
        case .endsDoubted: state.withLock { $0.credentials.endsDoubted(number) }
        }
    }

    /// Nobody waits for a flight any more who can do without.
    private func takesLong(_ number: Int) {
        let now = agenda.now
        let (answer, held) = state.withLock { state in
            let answer = state.credentials.takesLong(number, now: now)
            return (answer, answer.map { state.takeHeld(for: $0) } ?? [])
        }
        guard let answer else { return }
        hear(held, answer)
    }

    /// Tells those who have waited: of a credential in a task, as adding it may run a user's code, and
    /// this may be the thread of the timers.
    private func hear(_ held: [Held], _ answer: Answer) {
        guard case .use = answer, !held.isEmpty else {
            for held in held { held.hear(answer) }
            return
        }
        Task { for held in held { held.hear(answer) } }
    }

    private func end(_ flight: UnderWay) {
        flight.task.cancel()
        if let limit = flight.limit { agenda.cancel(limit) }
    }
}

extension CredentialDesk: Punctual {
    /// A flight takes too long: nobody waits for it any more, but what it may bring is taken.
    func isDue(_ tag: Int) {
        guard isLimited else { return takesLong(tag) }
        guard let late = state.withLock({ $0.underWay[tag] }) else { return }
        failed(AuthorisationError.timedOut, late.flight)
        late.task.cancel()
    }
}
