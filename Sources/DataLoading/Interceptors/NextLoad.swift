// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Loads a request for an interceptor: through the interceptors after it, and then for real.
///
/// ```swift
/// let response = try await next(request)
/// ```
/// It returns any whole response, whatever its status, and throws a `DataLoaderError` when there is
/// none, or what a later interceptor throws. The request may be changed, with two exceptions:
/// `chunks` is ignored, and the `responseSink` is always that of the request that was performed. The
/// time that the intercepted load has left limits the load inside, as does the request's own
/// `timeout`. Cancelling the task that waits here cancels the load inside.
///
/// A sink other than a file cannot take back bytes. Once a load inside has written to such a sink,
/// or while one may, another one ends `.responseSink`, and so does a body of the interceptor's own.
///
/// A module without the upcoming feature `NonisolatedNonsendingByDefault` (SE-0461) may write the
/// type of the closure instead of this name.
public typealias NextLoad =
    @Sendable @concurrent (DataLoaderRequest) async throws -> DataLoaderResponse
