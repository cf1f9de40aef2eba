// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Where requests wait for an authoriser's credential, and where one flight at a time fetches it.
///
/// It answers whoever asks: at once while there is a credential, else when the flight has ended, in
/// the order of arrival. Users' code, fetching and applying, runs under no lock.
final class CredentialDesk<Credential: Sendable>: Sendable {
    typealias Flight = CredentialState<Credential>.Flight

    private struct Held: Sendable {
        let place: Int
        let request: DataLoaderRequest
        let delegate: any AuthoriserDelegate
        let authoriser: any Authoriser
    }

    private struct UnderWay: Sendable {
        let flight: Flight
        var task: Task<Void, Never>?
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

        /// Notes a flight that is about to begin.
        mutating func note(_ flight: Flight?) {
            if let flight { underWay[flight.number] = UnderWay(flight: flight) }
        }
    }

    private let state: Locked<State>
    private let agenda: Agenda
    private let random: RandomSource
    private let limit: Duration?
    private let resetGate = ResetGate()
    private let apply: @Sendable (Credential, inout DataLoaderRequest) throws -> Void
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
        limit = rules.limit
        self.agenda = agenda
        self.random = random
        self.apply = apply
        self.fetch = fetch
    }

    /// How many requests wait.
    var heldCount: Int { state.withLock { $0.held.count } }

    // MARK: From loads

    /// Answers for a request, now or when there is a credential.
    func authorise(
        _ request: DataLoaderRequest, by authoriser: any Authoriser,
        for delegate: any AuthoriserDelegate
    ) {
        let now = agenda.now
        let (answer, flight, held) = state.withLock { state in
            let (answer, flight) = state.credentials.ask(now: now)
            state.note(flight)
            state.places += 1
            let held = Held(
                place: state.places, request: request, delegate: delegate, authoriser: authoriser)
            if case .wait = answer { state.held[ticket(of: request, delegate)] = held }
            return (answer, flight, held)
        }
        if let flight { begin(flight) }
        self.answer([held], answer)
        if case .wait = answer, delegate.isAbandoned { cancel(request) }
    }

    /// The load of a request that waits has ended.
    ///
    /// The flight goes on: it may bring what cannot be had a second time.
    func cancel(_ request: DataLoaderRequest) {
        guard let ticket = request[option: AuthorisationTicket.self] else { return }
        // Let go after the lock.
        _ = state.withLock { $0.held.removeValue(forKey: ticket) }
    }

    /// A server did not accept what a request was sent with; returns that, the first time.
    func refused(_ request: DataLoaderRequest, by authoriser: any Authoriser) -> Credential? {
        guard let stamp = stamp(of: request, by: authoriser) else { return nil }
        return state.withLock { $0.credentials.refused(stamp) }
    }

    /// Whether there is another credential than the one that the request was sent with.
    func hasNewer(than request: DataLoaderRequest, by authoriser: any Authoriser) -> Bool {
        guard let stamp = stamp(of: request, by: authoriser) else { return false }
        return state.withLock { $0.credentials.hasNewer(than: stamp) }
    }

    // MARK: From owners

    /// Fetches a new credential; whoever comes meanwhile waits for it.
    func refresh() {
        let now = agenda.now
        let flight = state.withLock { state in
            let flight = state.credentials.refresh(now: now)
            state.note(flight)
            return flight
        }
        if let flight { begin(flight) }
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
            answer(held, .fail(AuthorisationError.reset))
            await logOut(last)
            state.withLock { $0.credentials.endReset() }
        }
    }

    // MARK: Flights

    private func begin(_ flight: Flight) {
        let entry = limit.map {
            agenda.schedule(at: agenda.now + $0, for: self, tag: flight.number)
        }
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
        let isUnderWay = state.withLock { state in
            state.underWay[flight.number]?.task = task
            state.underWay[flight.number]?.limit = entry
            return state.underWay[flight.number] != nil
        }
        // Over, or reset, before it was noted.
        if !isUnderWay { end(UnderWay(flight: flight, task: task, limit: entry)) }
    }

    private func arrived(_ fetched: Fetched<Credential>, by flight: Flight) {
        let now = agenda.now
        let (answer, next, held, ended) = state.withLock { state in
            let ended = state.underWay.removeValue(forKey: flight.number)
            guard state.credentials.arrived(fetched, by: flight, now: now), !state.held.isEmpty
            else { return (CredentialState<Credential>.Answer.wait, Flight?.none, [Held](), ended) }
            // It may have expired on its way: then they wait for another one.
            let (answer, next) = state.credentials.ask(now: now)
            state.note(next)
            if case .wait = answer { return (answer, next, [], ended) }
            return (answer, next, state.takeHeld(), ended)
        }
        if let limit = ended?.limit { agenda.cancel(limit) }
        if let next { begin(next) }
        self.answer(held, answer)
    }

    private func failed(_ error: any Error, _ flight: Flight) {
        let now = agenda.now
        let (held, ended) = random.withGenerator { random in
            state.withLock { state in
                let ended = state.underWay.removeValue(forKey: flight.number)
                let fails = state.credentials.failed(error, flight, now: now, using: &random)
                return (fails ? state.takeHeld() : [], ended)
            }
        }
        if let limit = ended?.limit { agenda.cancel(limit) }
        answer(held, .fail(error))
    }

    private func end(_ flight: UnderWay) {
        flight.task?.cancel()
        if let limit = flight.limit { agenda.cancel(limit) }
    }

    // MARK: Answers

    private func answer(_ held: [Held], _ answer: CredentialState<Credential>.Answer) {
        switch answer {
        case .wait:
            break
        case .fail(let error):
            for held in held { fail(held, error) }
        case .use(let credential, let stamp):
            for held in held { use(credential, stamp, for: held) }
        }
    }

    private func use(_ credential: Credential, _ stamp: CredentialStamp, for held: Held) {
        var request = held.request
        do {
            try apply(credential, &request)
        } catch {
            return fail(held, error)
        }
        request[option: CredentialStamps.self][ObjectIdentifier(held.authoriser)] = stamp
        held.delegate.authoriser(held.authoriser, authorised: request)
    }

    private func fail(_ held: Held, _ error: any Error) {
        held.delegate.authoriser(
            held.authoriser, didFailToAuthorise: held.request, error: error)
    }

    private func stamp(
        of request: DataLoaderRequest, by authoriser: any Authoriser
    ) -> CredentialStamp? {
        request[option: CredentialStamps.self][ObjectIdentifier(authoriser)]
    }

    /// Loads have a ticket; whoever asks without one is told apart by its delegate.
    private func ticket(
        of request: DataLoaderRequest, _ delegate: any AuthoriserDelegate
    ) -> AuthorisationTicket {
        request[option: AuthorisationTicket.self]
            ?? AuthorisationTicket(load: ObjectIdentifier(delegate), turn: -1)
    }
}

extension CredentialDesk: Punctual {
    /// A flight takes too long: nobody waits for it any more, but what it may bring is taken.
    func isDue(_ tag: Int) {
        guard let late = state.withLock({ $0.underWay[tag] }) else { return }
        failed(AuthorisationError.timedOut, late.flight)
        late.task?.cancel()
    }
}
