// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds credentials to requests: a token, a signature, a cookie.
///
/// ```swift
/// final class KeyAuthoriser: Authoriser {
///     func authorise(_ request: DataLoaderRequest) -> Authorisation {
///         guard request.url.scheme == "https", request.url.host == "api.example.com",
///             request.url.port ?? 443 == 443
///         else { return .unchanged }
///         var authorised = request
///         authorised.headers["X-Api-Key"] = "key"
///         return .use(authorised)
///     }
/// }
/// ```
///
/// A factory asks its authorisers in order. Each authoriser receives the request that the one
/// before it returned. An authoriser should check the host and the port, and require https, before
/// it adds a secret. After a redirect to another origin the load asks it again, with the new URL
/// and without anything that authorisers added.
///
/// The factory calls `authorise` and `recover` on its queue, one call at a time, and never under a
/// lock of the library; ``isNonblocking`` saves the change of threads. The function of a `.later`
/// answer runs on that queue too. An authoriser that blocks delays only those loads of its factory
/// that run user code. Several factories may call a shared authoriser at the same time. A conformer
/// passes this test:
///
/// ```swift
/// let loader = service.makeFactory(authorisers: [authoriser]).makeDataLoader()
/// let response = try await loader.response(for: request)  // the server answers 401, then 200
/// // authorise, recover, authorise: each once, in this order; where recover returns false the last
/// // one is missing, and the 401 is delivered
/// ```
public protocol Authoriser: AnyObject, Sendable {
    /// The name in logs; by default the name of the type.
    var identifier: String { get }

    /// The method that a request must name for this authoriser to be asked; default nil.
    ///
    /// An authoriser without a method is asked about every request. Of the authorisers with a
    /// method, the factory asks those that the request names, in the order of the names. They are
    /// asked at the position of the first authoriser with a method in the factory's list.
    var method: AuthenticationMethod? { get }

    /// Whether `authorise` returns at once for every request, and may be called on any thread and
    /// for several requests at the same time; default false.
    ///
    /// If this is true of all authorisers of a factory when it is made, `authorise` is called where
    /// the load is at the time: inside `perform`, or on the transport's thread for a retry. The
    /// library's authorisers are, unless a program gives them a function of its own. `recover` and
    /// the function of a `.later` answer still run on the factory's queue.
    var isNonblocking: Bool { get }

    /// Returns what to send for a request; called for each attempt of each load.
    ///
    /// It is called again for the same attempt if the load waited more than 5 s for its slot, or
    /// longer than the library's own credential lasts.
    func authorise(_ request: DataLoaderRequest) -> Authorisation

    /// Reports a 401 to a request that this authoriser took part in; returns whether to send it
    /// again.
    ///
    /// `request` is the request as it was sent. `response` has a head and no body. Return true when
    /// a new authorisation may succeed; the default is false.
    ///
    /// The load calls it on each authoriser that returned something other than `.unchanged`, for
    /// its first 401 and for a 401 to its second send. When one of them returns true for the first
    /// 401, the load is authorised and sent once more; otherwise the 401 is delivered. The result
    /// for the second 401 is ignored.
    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool

    /// Deletes every credential, and returns when that is done; by default does nothing.
    ///
    /// It is called on no queue of the factory. A reset of the factory waits for it at most 150
    /// seconds, and then cancels its task.
    func reset() async
}

extension Authoriser {
    /// The name of the type.
    public var identifier: String { "\(type(of: self))" }

    /// Nil: the authoriser is asked about every request.
    public var method: AuthenticationMethod? { nil }

    /// False: `authorise` is called on the factory's queue.
    public var isNonblocking: Bool { false }

    /// Returns false.
    public func recover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool { false }

    /// Does nothing.
    public func reset() async {}
}

/// The answer of an authoriser about one request.
public enum Authorisation: Sendable {
    /// Sends the request as it is.
    case unchanged
    /// Sends this request, with what the authoriser added.
    case use(DataLoaderRequest)
    /// Ends the load `.cannotAuthenticate`, with this error as the reason.
    case refuse(any Error)
    /// Waits for something: a token, a person, a signature made elsewhere.
    ///
    /// The function is called once, in a task of the load that runs on the factory's queue. An
    /// error that it throws ends the load `.cannotAuthenticate`. The task is cancelled when the
    /// load ends earlier.
    case later(@Sendable () async throws -> DataLoaderRequest)
}
