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

    }

    /// Adds a credential to a request.
    let apply: @Sendable (Credential, inout DataLoaderRequest) throws -> Void

    private let state: Locked<State>
    private let agenda: Agenda
    private let random: RandomSource
    private let patience: Duration?
    private let mostHeld: Int
    private let resetGate = ResetGate()
    private let fetch: @Sendable (Credential?) async throws -> Fetched<Credential>?

    /// Makes a desk, with a credential from the start or without.
    ///
    /// `apply` adds a credential to a request; `fetch` gets one, from what there was before, or nil
    /// when nobody gives any.
    init(
        _ rules: CredentialRules, first: Credential? = nil, agenda: Agenda,
        random: RandomSource = .system,
        apply: @escaping @Sendable (Credential, inout DataLoaderRequest) throws -> Void,
        fetch: @escaping @Sendable (Credential?) async throws -> Fetched<Credential>?
    ) {
        state = Locked(State(credentials: CredentialState(rules, first: first)))
        patience = rules.limit
        mostHeld = rules.mostHeld
        self.agenda = agenda
        self.random = random
        self.apply = apply
        self.fetch = { previous in
            try await AuthorisersWork.perform { try await fetch(previous) }
        }
    }

    /// How many wait.
    var heldCount: Int { state.withLock { $0.held.count } }

    // MARK: Questions

    /// Answers whoever asks: now, or when there is a credential.
    func ask(_ ticket: AuthorisationTicket, hear: @escaping @Sendable (Answer) -> Void) {
        let now = agenda.now
        let (answer, flight) = state.withLock { state in
            let (answer, flight) = state.credentials.ask(now: now)
            begin(flight, in: &state)
            if case .wait = answer {
                guard state.held.count < mostHeld else {
                    return (Answer.fail(DataLoaderError.overloaded), flight)
                }
                state.places += 1
                state.held[ticket] = Held(place: state.places, hear: hear)
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
                guard let fetched = try await fetch(flight.previous) else {
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
        guard let flight, let patience else { return }
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
        for held in held { held.hear(answer) }
    }

    private func end(_ flight: UnderWay) {
        flight.task.cancel()
        if let limit = flight.limit { agenda.cancel(limit) }
    }
}

extension CredentialDesk: Punctual {
    /// A flight takes too long: nobody waits for it any more, but what it may bring is taken.
    func isDue(_ tag: Int) {
        guard let late = state.withLock({ $0.underWay[tag] }) else { return }
        failed(AuthorisationError.timedOut, late.flight)
        late.task.cancel()
    }
}
