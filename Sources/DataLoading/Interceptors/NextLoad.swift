// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Loads a request for an interceptor: through the interceptors after it, and then for real.
///
/// ```swift
/// let response = try await next(request)
/// ```
/// It returns any whole response, whatever its status, and throws a `DataLoaderError` when there is
/// none. The request may be changed, with two exceptions: `chunks` is ignored, and the
/// `responseSink` is always that of the request that was performed. The time that the intercepted
/// load has left limits the load inside, as does the request's own `timeout`. Cancelling the task
/// that waits here cancels the load inside.
///
/// A sink other than a file cannot take back bytes. Once a load inside has written to such a sink,
/// or while one may, another one ends `.responseSink`.
///
/// It is a type and not a closure, so that modules with and without the upcoming feature
/// `NonisolatedNonsendingByDefault` (SE-0461) write the same `intercept`.
public struct NextLoad: Sendable {
    private let load: @Sendable (DataLoaderRequest) async throws -> DataLoaderResponse

    /// Makes the rest of a chain from a closure, for tests of an interceptor.
    public init(
        _ load: @escaping @Sendable (DataLoaderRequest) async throws -> DataLoaderResponse
    ) {
        self.load = load
    }

    /// Loads a request.
    ///
    /// - Throws: `DataLoaderError` when there is no whole response, and what a later interceptor
    ///   throws.
    public func callAsFunction(_ request: DataLoaderRequest) async throws -> DataLoaderResponse {
        try await load(request)
    }
}
