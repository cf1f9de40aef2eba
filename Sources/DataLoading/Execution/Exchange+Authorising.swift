// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Exchange {
    /// Hands the request to the next authoriser that wants it, from an index on.
    func authorise(from index: Int) -> Step? {
        let request = state.withLock { state in
            if index == 0 {
                state.progress.beginAttempt()
                state.progress.stageBegan = runtime.agenda.now
            }
            return state.progress.outgoing
        }
        let authorisers = factory.authorisers
        for next in authorisers.indices.dropFirst(index) {
            let authoriser = authorisers[next]
            guard authoriser.requiresAuthorisation(request) else { continue }
            let turn = state.withLock { $0.enter(.authorising(authoriser)) }
            guard let turn else { return nil }
            authoriser.authorise(
                request, for: AuthorisationStep(token: token, turn: turn, index: next))
            return nil
        }
        return authorised()
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
        let isCurrent = state.withLock { state in
            guard turn == state.turn, case .authorising(let authoriser) = state.stage,
                state.enter(.starting) != nil
            else { return false }
            state.progress.outgoing = request
            state.progress.participants.append(authoriser)
            let now = runtime.agenda.now
            state.progress.metrics.authorisationTime += now - state.progress.stageBegan
            state.progress.stageBegan = now
            return true
        }
        if isCurrent { proceed(.authorise(from: index + 1)) }
    }

    fileprivate func authorisationFailed(_ reason: String, turn: Int) {
        let isCurrent = state.withLock { $0.update(.starting, turn: turn) }
        if isCurrent { proceed(.finish(.cannotAuthenticate(reason: reason))) }
    }

    /// Tells everyone who took part that the server refused, and authorises again.
    func authoriseAgain(_ head: ResponseHead) -> Step? {
        let refused = state.withLock { state -> LoadProgress? in
            // Cancelled or reset meanwhile: nobody is to get another credential for it.
            guard !state.isDecided else { return nil }
            state.progress.isReauthorised = true
            return state.progress
        }
        guard let refused else { return nil }
        let sent = refused.outgoing
        let response = DataLoaderResponse(
            request: request, error: .status(head.status), statusCode: head.status,
            headers: head.headers, resolvedURL: sent.url)
        for authoriser in refused.participants {
            authoriser.requestFailedAuthorisation(sent, response: response)
        }
        return .authorise(from: 0)
    }
}

/// Hears one authoriser's answer about one load; answers after the first find that its turn passed.
///
/// An authoriser that never lets go of it keeps the token, and not the load.
private final class AuthorisationStep: AuthoriserDelegate {
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
        token.load?.authorisationFailed("\(authoriser.identifier) refused", turn: turn)
    }
}
