// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// One load, from `perform` to its one outcome: the only owner of that outcome.
///
/// ```
/// check ─▶ authorise ─▶ admit ─▶ send ─▶ (head, body) ─▶ judge ─▶ finish
///             ▲            ▲                               │
///             │            └── next address, same attempt ◀┤
///             └──── pause, follow, renew the body ◀────────┘
/// ```
///
/// One lock guards one `LoadState`. Every callback from below carries the turn of the stage that it
/// belongs to, and a turn that has passed is dropped. User code runs under no lock, and on the queue of
/// the load's factory: `proceed` sees to that for steps, `received` for a response's head.
final class Exchange: Sendable {
    /// The request as it was performed.
    let request: DataLoaderRequest
    let runtime: Runtime
    let factory: DataLoaderFactory
    let loader: LoaderCore
    /// The load's place in the order of its loader's loads.
    let number: Int
    let recipient: any Recipient
    /// Who tells of the bodies' progress, nil when nobody wants to hear.
    let reporter: ProgressReporter?
    let token = CancellationToken()
    /// Whether an authoriser performs the load, for others that wait for what it brings.
    let isForAuthoriser: Bool
    /// Whether the request has a retry policy that a user wrote.
    let hasUsersPolicy: Bool
    /// Whether authorisers are not asked: it says so, or its answer comes from the cache alone, which
    /// shows nobody a secret.
    let isLeftAlone: Bool
    let state: Locked<LoadState>

    init(
        _ request: DataLoaderRequest, factory: DataLoaderFactory, loader: LoaderCore,
        recipient: any Recipient
    ) {
        self.request = request
        runtime = factory.service.runtime
        self.factory = factory
        self.loader = loader
        number = loader.nextNumber()
        self.recipient = recipient
        isForAuthoriser = factory.isBelowAuthorisers || AuthorisersWork.isCurrent
        hasUsersPolicy = request.retryPolicy.map { !($0 is BuiltInRetryPolicy) } ?? false
        reporter = ProgressReporter(request, queue: recipient.queue, agenda: runtime.agenda)
        let now = runtime.agenda.now
        let streams = recipient.delivery != .whole
        let total = request.timeout ?? (streams ? nil : runtime.timeouts.total)
        var progress = LoadProgress(
            request: request, now: now, deadline: total.map { now + $0 }, streams: streams)
        if factory.isOffline { progress.base.cachePolicy = .cacheOnly }
        isLeftAlone =
            request[option: SkipsAuthorisation.self] || progress.base.cachePolicy == .cacheOnly
        if let userAgent = runtime.userAgent, !request.headers.contains("User-Agent") {
            progress.base.headers.add(userAgent, for: "User-Agent")
        }
        if let type = request.body?.contentType, !request.headers.contains("Content-Type") {
            progress.base.headers.add(type, for: "Content-Type")
        }
        state = Locked(LoadState(progress: progress))
        token.bind(to: self)
    }

    /// Whether the outcome is there, taken or not.
    var isDecided: Bool { state.withLock { $0.isDecided } }

    /// The steps of a load; each one names the next, or nothing when it waits for a callback.
    enum Step: Sendable {
        /// Check every byte, and whether chunks may come.
        case check
        /// Ask the factory's authorisers, from this one on.
        case authorise(from: Int)
        /// Get a rate slot and a connection slot.
        case admit
        /// Get them, after the load had a place in the queue already.
        case admitAgain
        /// Hand the request to the transport; the slots are held. Without an address: choose one.
        case send(to: HostResolver.Candidate?)
        /// Tell everyone who took part in a request of the 401 to it.
        indirect case reportRefusal(ResponseHead, then: Step)
        /// Start over, after a 401.
        case authoriseAgain
        /// Decide what follows a failure: another attempt, or the end.
        indirect case judge(TransportFailure)
        /// Decide whether an attempt that was left out is followed by another one, or made after all.
        indirect case spare(TransportFailure)
        /// Wait before another attempt.
        case pause(Duration)
        /// Go where a redirect leads; indirect, because every load copies steps and few redirect.
        indirect case follow(Redirection.Next)
        /// Ask the owner for a body that was used up, and end with an outcome if there is none.
        indirect case renewBody(then: Step, otherwise: DataLoaderError?)
        /// End, with an error or with the response that is there.
        case finish(DataLoaderError?)
    }

    /// Walks the load on from a step until something has to be waited for.
    ///
    /// Steps that may call users' code are made on the factory's queue, the others where the load is.
    func proceed(_ first: Step) {
        var next: Step? = first
        while let step = next {
            if callsUsers(step), !factory.isOnQueue {
                return wait(toGoOn: step)
            }
            next =
                switch step {
                case .check: check()
                case .authorise(let index): authorise(from: index)
                case .admit: admit()
                case .admitAgain: admit(hasWaited: true)
                case .send(let address): send(to: address)
                case .reportRefusal(let head, let next): reportRefusal(head, then: next)
                case .authoriseAgain: authoriseAgain()
                case .judge(let failure): decide(after: failure)
                case .spare(let failure): decide(afterSpared: failure)
                case .pause(let delay): pause(delay)
                case .follow(let redirect): follow(redirect)
                case .renewBody(let step, let error): renewBody(then: step, otherwise: error)
                case .finish(let error): finish(error)
                }
        }
    }

    /// Whether a step may call what users wrote, which may block the thread that it is called on.
    func callsUsers(_ step: Step) -> Bool {
        switch step {
        case .authorise(let index): !isLeftAlone && index < factory.authorisers.count
        case .reportRefusal: true
        case .judge, .spare: hasUsersPolicy
        case .check, .admit, .admitAgain, .send, .authoriseAgain, .pause, .follow, .renewBody,
            .finish:
            false
        }
    }

    /// Starts the load, or ends it with the reason why it may not start.
    func begin(refusal: DataLoaderError?) {
        guard refusal == nil else { return proceed(.finish(refusal)) }
        scheduleDeadline()
        proceed(.check)
    }

    private func scheduleDeadline() {
        guard let deadline = state.withLock({ $0.progress.deadline }) else { return }
        let entry = runtime.agenda.schedule(at: deadline, for: self, tag: Self.deadlineTag)
        let isDecided = state.withLock { state in
            state.progress.deadlineEntry = entry
            return state.isDecided
        }
        if isDecided { runtime.agenda.cancel(entry) }
    }

    private func check() -> Step? {
        do {
            try state.withLock { state throws(RequestFault) in
                state.progress.baseTarget = try RequestCheck.target(of: state.progress.base)
            }
        } catch {
            return .finish(.invalidRequest(error))
        }
        guard request.chunks else { return .authorise(from: 0) }
        guard let turn = state.withLock({ $0.enter(.asking) }) else { return nil }
        recipient.askForChunkSupport(self) { [self] isSupported in
            guard state.withLock({ $0.update(.starting, turn: turn) }) else { return }
            proceed(isSupported ? .authorise(from: 0) : .finish(.chunksNotSupported))
        }
        return nil
    }
}

extension Exchange: Punctual {
    static let deadlineTag = -1

    func isDue(_ tag: Int) {
        tag == Self.deadlineTag ? deadlineHasPassed() : pauseIsOver(turn: tag)
    }
}
