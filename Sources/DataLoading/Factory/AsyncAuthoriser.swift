// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// An authoriser in one asynchronous function.
///
/// ```swift
/// final class Signer: AsyncAuthoriser {
///     let identifier = "signer"
///     func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
///         request.url.scheme == "https" && request.url.host() == "api.example.com"
///     }
///     func authorised(_ request: DataLoaderRequest) async throws -> DataLoaderRequest {
///         var signed = request
///         signed.headers["X-Signature"] = try await sign(request)
///         return signed
///     }
///     func reset() async {}
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
