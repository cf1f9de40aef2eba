// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Receives the outcomes of a loader's loads, one at a time, where the loader's `Delivery` says.
///
/// ```swift
/// final class FeedReader: DataLoaderDelegate {
///     func dataLoader(
///         _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
///     ) {
///         print(response.request, "has", response.body?.count ?? 0, "bytes")
///     }
///
///     func dataLoader(
///         _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
///     ) {
///         print(response.request, "failed:", response.error?.name ?? "?")
///     }
///
///     func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {
///         print(request, "was cancelled")
///     }
/// }
/// ```
/// For each load that `perform` starts, the loader calls exactly one of the three methods, as the
/// last call of the load. Attempts that are retried, authorised again or redirected are not
/// reported. Every method may cancel loads.
///
/// No method has a default, so that the compiler reports a misspelt one. A delegate that wants more
/// conforms to more: to `DataLoaderChunkDelegate`, `DataLoaderBodyStreamDelegate` or
/// `DataLoaderConnectivityDelegate`.
///
/// The loader does not call its delegate for `response(for:)`, `chunks(for:)` and `request(_:)`. It
/// makes no more calls once it is dropped.
public protocol DataLoaderDelegate: AnyObject, Sendable {
    /// The load ended with a whole response of status 200 to 299.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse)

    /// The load failed; `response.error` is the reason.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse)

    /// The load was cancelled.
    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest)
}
