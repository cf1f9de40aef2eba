// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoading

/// An authoriser that answers a delegate, during the call or later, as in SPTDataLoader.
///
/// ```swift
/// let authoriser = DelegatingAuthoriser(
///     identifier: "session",
///     requiresAuthorisation: { request in
///         request.url.scheme == "https" && request.url.host == "api.example.com"
///             && request.url.port ?? 443 == 443
///     }
/// ) { request, delegate in
///     session.withToken { token in
///         var authorised = request
///         authorised.headers["Authorization"] = "Bearer " + token
///         delegate.authorised(authorised)
///     }
/// }
/// ```
public final class DelegatingAuthoriser: Authoriser {
    /// A name for logs.
    public let identifier: String
    /// The method that a request has to name; nil for every request.
    public let method: AuthenticationMethod?
    private let isConcerned: @Sendable (DataLoaderRequest) -> Bool
    private let ask: @Sendable (DataLoaderRequest, Delegate) -> Void
    private let hearOfRefusal: @Sendable (DataLoaderRequest, DataLoaderResponse) -> Bool
    private let resetDelegate: @Sendable () async -> Void

    /// Makes an authoriser from functions.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - method: The method that a request has to name; nil for every request.
    ///   - requiresAuthorisation: Whether the authoriser adds something to a request; by default
    ///     true for every request. A request for which it returns false is sent unchanged.
    ///   - recover: Called after a 401; returns whether to retry once; by default false.
    ///   - reset: Forgets every credential; by default nothing.
    ///   - authorise: Answers its delegate once: with the request and what it needs, or with the
    ///     reason for refusing. Called on a queue of the factory.
    public init(
        identifier: String, method: AuthenticationMethod? = nil,
        requiresAuthorisation: @escaping @Sendable (DataLoaderRequest) -> Bool = { _ in true },
        recover: @escaping @Sendable (DataLoaderRequest, DataLoaderResponse) -> Bool = { _, _ in
            false
        },
        reset: @escaping @Sendable () async -> Void = {},
        authorise: @escaping @Sendable (DataLoaderRequest, Delegate) -> Void
    ) {
        self.identifier = identifier
        self.method = method
        isConcerned = requiresAuthorisation
        ask = authorise
        hearOfRefusal = recover
        resetDelegate = reset
    }

    /// Waits for the delegate's answer.
    public func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard isConcerned(request) else { return .unchanged }
        return .later { [ask] in
            let delegate = Locked<WeakDelegate?>(nil)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let made = Delegate(continuation)
                    delegate.withLock { $0 = WeakDelegate(made) }
                    // `onCancel` may have run before the delegate existed.
                    guard !Task.isCancelled else { return made.failed(CancellationError()) }
                    ask(request, made)
                }
            } onCancel: {
                delegate.withLock { $0?.value }?.failed(CancellationError())
            }
        }
    }

    /// Calls the initialiser's `recover`.
    public func recover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool { hearOfRefusal(request, response) }

    /// Calls the initialiser's `reset`.
    public func reset() async { await resetDelegate() }

    /// Receives the answer to one request; calls after the first do nothing.
    ///
    /// Keep it until you have answered. When it is released without an answer, the load ends
    /// `.cannotAuthenticate` with `AuthorisationError.noAnswer`.
    public final class Delegate: Sendable {
        private let continuation: Locked<CheckedContinuation<DataLoaderRequest, any Error>?>

        fileprivate init(_ continuation: CheckedContinuation<DataLoaderRequest, any Error>) {
            self.continuation = Locked(continuation)
        }

        deinit { failed(AuthorisationError.noAnswer) }

        /// The authorised request.
        public func authorised(_ request: DataLoaderRequest) {
            continuation.withLock { $0.take() }?.resume(returning: request)
        }

        /// The authoriser cannot or will not authorise the request.
        public func failed(_ error: any Error) {
            continuation.withLock { $0.take() }?.resume(throwing: error)
        }
    }

    private struct WeakDelegate: Sendable {
        weak let value: Delegate?

        init(_ value: Delegate) {
            self.value = value
        }
    }
}
