// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Adds a token that it fetches when it is needed, and again when the origin refuses it.
///
/// Loads call it from many threads. It writes down who wants what, and one task answers in that
/// order; so a refusal is always seen before the same load asks again, and while a token is being
/// fetched, everybody else simply stands in the queue: one fetch, however many loads.
final class SessionAuthoriser: Authoriser {
    let identifier = "session"
    private let tokenURL: URL
    private let mailbox: AsyncStream<Session.Message>.Continuation

    /// Makes an authoriser for the origin that hands out tokens.
    ///
    /// - Parameters:
    ///   - tokenURL: Answers GET with a token as text.
    ///   - loader: Fetches tokens; of a factory that does not use this authoriser.
    ///   - wire: Is told of renewals.
    init(tokenURL: URL, loader: DataLoader, wire: Wire) {
        self.tokenURL = tokenURL
        let (messages, mailbox) = AsyncStream.makeStream(of: Session.Message.self)
        self.mailbox = mailbox
        Task {
            var session = Session(tokenURL: tokenURL, loader: loader, wire: wire)
            for await message in messages { await session.handle(message) }
        }
    }

    deinit {
        mailbox.finish()
    }

    /// Only the origin that gave the token may see it.
    ///
    /// Demanding https as well would be right anywhere else; the embedded origin does without.
    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        let url = request.url
        return url.scheme == tokenURL.scheme && url.host() == tokenURL.host()
            && url.port == tokenURL.port
    }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        mailbox.yield(
            .authorise(request) { [self] result in
                switch result {
                case .success(let authorised):
                    delegate.authoriser(self, authorised: authorised)
                case .failure(let error):
                    delegate.authoriser(self, didFailToAuthorise: request, error: error)
                }
            })
    }

    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse) {
        mailbox.yield(.refused(request))
    }

    func refresh() {
        mailbox.yield(.forget {})
    }

    func reset() async {
        await withCheckedContinuation { continuation in
            _ = mailbox.yield(.forget { continuation.resume() })
        }
    }
}
