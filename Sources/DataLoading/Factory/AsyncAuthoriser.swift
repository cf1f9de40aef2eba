// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// An authoriser in one asynchronous function.
///
/// ```swift
/// final class Signer: AsyncAuthoriser {
///     let identifier = "signer"
///     func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool { true }
///     func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
///         var signed = request
///         signed.headers["X-Signature"] = try await sign(request)
///         return signed
///     }
/// }
/// ```
public protocol AsyncAuthoriser: Authoriser {
    /// Returns the request with what it needs, or throws why it is refused.
    ///
    /// Called in a task of its own for each attempt of each load; the task is cancelled when the load
    /// ends before.
    func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest
}

extension AsyncAuthoriser {
    /// Answers with what `authorised` returns.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        let task = Task {
            do {
                delegate.authoriser(self, authorised: try await authorised(request))
            } catch {
                delegate.authoriser(self, didFailToAuthorise: request, error: error)
            }
        }
        (delegate as? any AuthorisationQuestion)?.hold(task)
    }

    /// Does nothing.
    public func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {}

    /// Does nothing.
    public func refresh() {}
}

/// A load's question, as the library's own authorisers see it.
protocol AuthorisationQuestion: AuthoriserDelegate {
    /// False from when the load has ended, or was answered.
    ///
    /// A load that ends while it is being asked about finds nobody to tell: who keeps the question
    /// looks here afterwards.
    var isOpen: Bool { get }

    /// Cancels the task that answers when the load ends.
    func hold(_ task: Task<Void, Never>)
}

extension AuthoriserDelegate {
    /// Whether nobody waits for an answer any more, as far as can be known.
    var isAbandoned: Bool {
        (self as? any AuthorisationQuestion)?.isOpen == false
    }
}
