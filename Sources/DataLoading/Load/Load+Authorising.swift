// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Dispatch

/// Asks the authorisers of a load's factory, on the factory's queue unless none of them blocks.
extension Load {
    /// Asks at once where no authoriser blocks, and otherwise on the factory's queue.
    ///
    /// There it asks in a separate block, also on that queue: the caller may be inside an authoriser.
    func authorise(_ epoch: Int) {
        guard !context.authorisesInPlace else { return beginAuthorising(epoch) }
        onFactoryQueue { $0.beginAuthorising(epoch) }
    }

    private func beginAuthorising(_ epoch: Int) {
        guard let (request, refused) = asking(epoch) else { return }
        do throws(AuthorisationError) {
            ask(try context.authoriserChain(request, refused: refused), epoch)
        } catch {
            let failure = DataLoaderError(
                .cannotAuthenticate(reason: "\(error)"), underlyingError: error)
            handle(.failed(failure, epoch: epoch))
        }
    }

    /// Ends the load, unless it waits for the connection that an authoriser has not.
    private func refused(_ error: DataLoaderError, _ epoch: Int) {
        guard let facts = facts(epoch: epoch) else { return }
        let pause = Judge(facts, self).pause(without: error)
        handle(pause.map { .decided($0, epoch: epoch) } ?? .failed(error, epoch: epoch))
    }

    /// Asks the authorisers that were not asked yet.
    private func ask(_ chain: AuthoriserChain, _ epoch: Int) {
        var chain = chain
        switch chain.ask(for: .asking(token, epoch: epoch)) {
        case .unchanged, .use: handle(.authorised(chain, epoch: epoch))
        case .refuse(let error): refused(chain.failure(error), epoch)
        case .later(let body): answer(later: body, chain, epoch)
        }
    }

    /// Waits for an authoriser's answer, in a task that is cancelled with the load.
    private func answer(
        later body: @escaping @Sendable () async throws -> DataLoaderRequest,
        _ asked: AuthoriserChain, _ epoch: Int
    ) {
        // The load may have ended while the authoriser was asked; its answer is not used then.
        guard isAuthorising(epoch) else { return }
        // A task that runs longer than the load does not retain it.
        let task = context.queue.task { [token] in
            var chain = asked
            do {
                chain.take(try await body())
                token.load?.askFurther(chain, epoch)
            } catch {
                token.load?.refused(chain.failure(error), epoch)
            }
        }
        handle(.authoriserAnswersLater(task, epoch: epoch))
    }

    private func askFurther(_ chain: AuthoriserChain, _ epoch: Int) {
        // Without another authoriser to ask, the load needs no change of queue.
        guard !chain.isOver, !context.isOnQueue else { return ask(chain, epoch) }
        onFactoryQueue { $0.ask(chain, epoch) }
    }
}

/// A task of an authoriser that runs longer than the load does not retain it.
extension CancellationToken: AsksAuthorisers {
    func isAuthorising(_ epoch: Int) -> Bool { load?.isAuthorising(epoch) ?? false }
}
