// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// Hands the request to the next authoriser that wants it, from an index on.
    func authorise(from index: Int) -> Step? {
        // What is replaced is let go after the lock, here and below: it holds the user's objects.
        let (outgoing, _) = state.withLock { state -> (DataLoaderRequest?, DataLoaderRequest) in
            let before = state.progress.outgoing
            // Ended while it waited for the factory's queue: nobody is to be asked about it.
            guard !state.isDecided else { return (nil, before) }
            state.progress.endQueueing(at: runtime.agenda.now)
            if index == 0 {
                state.progress.beginAttempt()
                state.progress.authorisationTasks = []
                state.progress.stageBegan = runtime.agenda.now
            }
            return (state.progress.outgoing, before)
        }
        guard var request = outgoing else { return nil }
        let authorisers = factory.authorisers
        if isLeftAlone { return authorised() }
        if index == 0, let method = unknownMethod(request, authorisers) {
            let error = AuthorisationError.unknownMethod(method)
            let reason = AuthenticationFailure("\(error)", underlyingError: error)
            return .finish(.cannotAuthenticate(reason: reason))
        }
        for next in authorisers.indices.dropFirst(index) {
            let authoriser = authorisers[next]
            guard authoriser.requiresAuthorisation(request) else { continue }
            let turn = state.withLock { state -> Int? in
                guard let turn = state.enter(.authorising(authoriser)) else { return nil }
                request[option: AuthorisationTicket.self] = AuthorisationTicket(
                    load: ObjectIdentifier(self), turn: turn)
                // Its cancellation has to name the same ticket.
                state.progress.outgoing = request
                return turn
            }
            guard let turn else { return nil }
            let step = AuthorisationStep(token: token, turn: turn, index: next)
            ask(turn) { authoriser.authorise(request, for: step) }
            return nil
        }
        return authorised()
    }

    /// Runs what asks an authoriser; what it loads meanwhile, this load waits for.
    private func ask(_ turn: Int, _ body: () -> Void) {
        let isOpen = { @Sendable [token] in token.load?.isAuthorising(turn) ?? false }
        AuthorisersWork.perform(while: isOpen, body)
    }

    /// Asks another part of an authoriser, on the factory's queue.
    fileprivate func ask(further body: @escaping @Sendable () -> Void, turn: Int) {
        onFactoryQueue { load in
            if load.isAuthorising(turn) { load.ask(turn, body) }
        }
    }

    /// A method that the request names where nobody has any: it must not be sent without.
    private func unknownMethod(
        _ request: DataLoaderRequest, _ authorisers: [any Authoriser]
    ) -> AuthenticationMethod? {
        guard let method = request[option: AuthenticationMethod.self].first,
            !authorisers.contains(where: { $0 is CompositeAuthoriser })
        else { return nil }
        return method
    }

    /// Checks what the authorisers made of the request.
    private func authorised() -> Step? {
        do {
            try state.withLock { state throws(RequestFault) in
                guard !state.progress.participants.isEmpty else { return }
                try RequestCheck.check(state.progress.outgoing)
                // Authorisers add fields; few change the URL.
                guard state.progress.outgoing.url != state.progress.base.url else { return }
                state.progress.target = try RequestTarget(state.progress.outgoing.url)
            }
        } catch {
            return .finish(.invalidRequest(error))
        }
        return .admit
    }

    fileprivate func wasAuthorised(_ request: DataLoaderRequest, turn: Int, index: Int) {
        let before = state.withLock { state -> DataLoaderRequest? in
            guard turn == state.turn, case .authorising(let authoriser) = state.stage,
                state.enter(.starting) != nil
            else { return nil }
            defer { state.progress.outgoing = request }
            state.progress.participants.append(authoriser)
            let now = runtime.agenda.now
            state.progress.metrics.authorisationTime += now - state.progress.stageBegan
            state.progress.stageBegan = now
            return state.progress.outgoing
        }
        if before != nil { proceed(.authorise(from: index + 1)) }
    }

    fileprivate func authorisationFailed(_ reason: AuthenticationFailure, turn: Int) {
        let isCurrent = state.withLock { state in
            guard turn == state.turn, state.enter(.starting) != nil else { return false }
            state.progress.metrics.authorisationTime +=
                runtime.agenda.now - state.progress.stageBegan
            return true
        }
        guard isCurrent else { return }
        // What the library's own authorisers say of themselves.
        let own = (reason.underlyingError as? OwnFault)?.error
        proceed(.finish(own ?? .cannotAuthenticate(reason: reason)))
    }

    fileprivate func isAuthorising(_ turn: Int) -> Bool {
        state.withLock { $0.isAuthorising(turn) }
    }

    /// Keeps the task that answers for an authoriser, to cancel it should the load end first.
    fileprivate func hold(_ task: Task<Void, Never>, turn: Int) {
        let isCurrent = state.withLock { state in
            guard state.isAuthorising(turn) else { return false }
            // A composite's parts answer one after the other, each with a task.
            state.progress.authorisationTasks.append(task)
            return true
        }
        if !isCurrent { task.cancel() }
    }

    /// Tells everyone who took part that the server refused.
    func reportRefusal(_ head: ResponseHead, then next: Step) -> Step? {
        // Cancelled or reset meanwhile: nobody is to get another credential for it.
        let progress = state.withLock { $0.isDecided ? nil : $0.progress }
        guard let progress else { return nil }
        let refusal = refusal(head, progress)
        for authoriser in progress.participants {
            authoriser.requestFailedAuthorisation(progress.outgoing, response: refusal)
        }
        return next
    }

    /// Starts over; once in the life of a load.
    func authoriseAgain() -> Step? {
        state.withLock { state in
            state.progress.isReauthorised = true
            state.progress.refusedStamps =
                state.progress.outgoing[option: CredentialStamps.self]
        }
        return .authorise(from: 0)
    }

    /// A 401 as authorisers see it.
    func refusal(_ head: ResponseHead, _ progress: LoadProgress) -> DataLoaderResponse {
        DataLoaderResponse(
            request: request, error: .status(head.status), statusCode: head.status,
            headers: head.headers, resolvedURL: progress.outgoing.url)
    }
}

extension LoadState {
    /// Whether the load waits for the answer that belongs to a turn.
    fileprivate func isAuthorising(_ turn: Int) -> Bool {
        guard turn == self.turn, case .authorising = stage else { return false }
        return true
    }
}

/// Hears one authoriser's answer about one load; answers after the first find that its turn passed.
///
/// An authoriser that never lets go of it keeps the token, and not the load.
private final class AuthorisationStep: AuthorisationQuestion {
    private let token: CancellationToken
    private let turn: Int
    private let index: Int

    init(token: CancellationToken, turn: Int, index: Int) {
        self.token = token
        self.turn = turn
        self.index = index
    }

    deinit {
        token.load?.authorisationFailed("the authoriser gave no answer", turn: turn)
    }

    func authoriser(_ authoriser: any Authoriser, authorised request: DataLoaderRequest) {
        token.load?.wasAuthorised(request, turn: turn, index: index)
    }

    func authoriser(
        _ authoriser: any Authoriser, didFailToAuthorise request: DataLoaderRequest,
        error: any Error
    ) {
        token.load?.authorisationFailed(
            AuthenticationFailure(authoriser.identifier, because: error), turn: turn)
    }

    var isOpen: Bool { token.load?.isAuthorising(turn) ?? false }

    func ask(further body: @escaping @Sendable () -> Void) {
        token.load?.ask(further: body, turn: turn)
    }

    func hold(_ task: Task<Void, Never>) {
        guard let load = token.load else { return task.cancel() }
        load.hold(task, turn: turn)
    }
}
