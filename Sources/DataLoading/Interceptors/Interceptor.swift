// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Changes, answers or repeats the loads of a factory, above its cache, authorisers and limits.
///
/// ```swift
/// struct ClientVersion: Interceptor {
///     let version: String
///
///     func intercept(
///         _ request: DataLoaderRequest, next: NextLoad
///     ) async throws -> DataLoaderResponse {
///         var request = request
///         request.headers["X-Client-Version"] = version
///         return try await next(request)
///     }
/// }
/// ```
/// The first interceptor in the factory's list is the outermost. It may call `next` once, several
/// times, also at the same time, or never, when it answers by itself. Each call of the innermost
/// `next` is a load inside the intercepted one, with its own cache lookup, authorisation,
/// admission, redirects and retries. A `oneShot` body is there for one of them; a later one that
/// sends it ends `.requestBody`.
///
/// The intercepted load stays one load for its owner: with one token, one deadline and one
/// outcome. What ends it, such as a cancellation, a reset or its deadline, ends the loads inside,
/// and cancels the task of the interceptors. Nothing waits for an interceptor that ignores that:
/// its answer is not used, and `next` throws `.cancelled` from then on.
///
/// A returned response is the outcome. Its status decides whether it is a success, and its
/// `request` is replaced by the request that was performed. A thrown `DataLoaderError` is the
/// outcome too, and so is a `CancellationError`, as `.cancelled`. For any other error the load ends
/// `.interceptor`.
///
/// Interceptors see whole loads, those with a `responseSink` included. A factory with interceptors
/// has no loads in chunks: they end `.chunksNotSupported`. A change that every request needs, those
/// in chunks included, belongs in a `Transport` that wraps another one.
///
/// Interceptors are called on the factory's queue, like its authorisers: one that blocks its thread
/// delays the loads of the factory. At most `Limits.queue` plus `Limits.total` loads of a factory
/// are in its interceptors at once; one more ends `.overloaded`. An interceptor that performs loads
/// of its own factory without `next` is called for them too.
public protocol Interceptor: Sendable {
    /// Returns the response to a request, usually that of `next`.
    func intercept(
        _ request: DataLoaderRequest, next: @escaping NextLoad
    ) async throws -> DataLoaderResponse
}
