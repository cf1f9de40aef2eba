// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What authorisers hand on of their loads.
extension CredentialDesk {
    /// Answers for a request, now or when there is a credential.
    func authorise(
        _ request: DataLoaderRequest, by authoriser: any Authoriser,
        for delegate: any AuthoriserDelegate
    ) {
        // Loads have a ticket; whoever asks without one may ask about several requests at a time.
        let ticket = request[option: AuthorisationTicket.self] ?? freshTicket()
        let refused = request[option: RefusedStamps.self][ObjectIdentifier(authoriser)]
        ask(ticket, refused: refused) { [apply] answer in
            var authorised = request
            do {
                switch answer {
                case .wait: return
                case .fail(let error): throw error
                case .use(let credential, let stamp):
                    try apply(credential, &authorised)
                    authorised.keepCredentialOnThisMachine()
                    authorised[option: CredentialStamps.self][ObjectIdentifier(authoriser)] = stamp
                    delegate.authoriser(authoriser, authorised: authorised)
                }
            } catch {
                delegate.authoriser(authoriser, didFailToAuthorise: request, error: error)
            }
        }
        if delegate.isAbandoned { cancel(ticket) }
    }

    /// The load of a request that waits has ended.
    func cancel(_ request: DataLoaderRequest) {
        if let ticket = request[option: AuthorisationTicket.self] { cancel(ticket) }
    }

    /// A server did not accept what a request was sent with; returns that, the first time.
    func refused(_ request: DataLoaderRequest, by authoriser: any Authoriser) -> Credential? {
        stamp(of: request, by: authoriser).flatMap(refused)
    }

    /// A server did not accept the token that a request was sent with, unless it lacks scope alone.
    func refusedToken(
        of request: DataLoaderRequest, _ response: DataLoaderResponse, by authoriser: any Authoriser
    ) {
        guard !AuthenticationChallenge.isAboutScope(response.headers) else { return }
        _ = refused(request, by: authoriser)
    }

    /// Whether there is another credential than the one that the request was sent with.
    func hasNewer(than request: DataLoaderRequest, by authoriser: any Authoriser) -> Bool {
        stamp(of: request, by: authoriser).map(hasNewer) ?? false
    }

    private func stamp(
        of request: DataLoaderRequest, by authoriser: any Authoriser
    ) -> CredentialStamp? {
        request[option: CredentialStamps.self][ObjectIdentifier(authoriser)]
    }
}

/// What waits for a credential without a load.
extension CredentialDesk {
    /// Returns once there is a credential; throws why there is none, or that the task was cancelled.
    func ready() async throws {
        let waker = Waker()
        let answer = Locked<Answer?>(nil)
        let ticket = freshTicket()
        ask(ticket) { given in
            answer.withLock { $0 = given }
            waker.wake()
        }
        await withTaskCancellationHandler {
            await waker.wait()
        } onCancel: {
            cancel(ticket)
            waker.wake()
        }
        switch answer.withLock({ $0 }) {
        case .use: return
        case .fail(let error): throw (error as? OwnFault)?.error ?? error
        case .wait, nil: throw CancellationError()
        }
    }
}
