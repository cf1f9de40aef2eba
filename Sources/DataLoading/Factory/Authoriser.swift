// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds what a server wants to see before it answers: a token, a signature, a cookie.
///
/// A factory asks its authorisers in order. Each one that `requiresAuthorisation` is handed the
/// request that the one before it answered with. It should look at the host and demand https before
/// it adds a secret. After a redirect to another origin it is asked again, with the new URL and
/// without anything that any authoriser had added.
///
/// Methods are called on a queue of the factory, one at a time, and never under a lock of the library.
/// One that blocks holds up the loads of its factory that ask users' code, and no others. An authoriser of
/// several factories may be called by several at once. A conformer passes this test:
///
/// ```swift
/// let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
/// let response = try await loader.response(for: request)  // the server answers 401, then 200
/// // authorise, canRecover, requestFailedAuthorisation, authorise: each once, in this order;
/// // where canRecover is false the last one is missing, and the 401 is delivered
/// ```
public protocol Authoriser: AnyObject, Sendable {
    /// A name for logs.
    var identifier: String { get }

    /// Whether this authoriser has something to add to the request.
    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool

    /// Answers `delegate` once: with the request and what it needs, or with the reason for refusing.
    ///
    /// The answer may be given inside the call or at any time after it. Until then the load waits; a
    /// second answer does nothing. Hold `delegate` strongly: when it is dropped without an answer
    /// the load ends `.cannotAuthenticate`.
    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate)

    /// Whether it is worth sending the request again, authorised anew, after a 401; true by default.
    ///
    /// Asked once a load. `request` is what was sent, `response` has a head and no body. When nobody who
    /// took part says yes, the 401 is delivered.
    func canRecover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool

    /// The server answered 401 to a request that this authoriser took part in.
    ///
    /// `request` is what was sent. Called for each 401, also for one that is then delivered.
    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse)

    /// The load ended while this authoriser held it; no answer is needed any more.
    func cancelAuthorisation(of request: DataLoaderRequest)

    /// Gets new credentials now; for callers outside the library, which never calls it.
    func refresh()

    /// Forgets every credential; returns when that has happened.
    ///
    /// Called on no queue of the factory. A reset of the factory waits for it at most 150 seconds, and then
    /// cancels its task.
    func reset() async
}

extension Authoriser {
    /// True.
    public func canRecover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool { true }

    /// Does nothing.
    public func cancelAuthorisation(of request: DataLoaderRequest) {}
}

/// Hears an authoriser's one answer to one request.
public protocol AuthoriserDelegate: AnyObject, Sendable {
    /// The request with what the authoriser added.
    func authoriser(_ authoriser: any Authoriser, authorised request: DataLoaderRequest)

    /// The authoriser cannot or will not authorise the request.
    func authoriser(
        _ authoriser: any Authoriser, didFailToAuthorise request: DataLoaderRequest,
        error: any Error)
}
