// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Hears of a loader's loads, on the loader's delegate queue.
///
/// For each load exactly one of the first three methods is called, last. In chunk mode the initial
/// response and the chunks come before it, in order. Nothing of an attempt that is retried,
/// authorised again or redirected is heard. Cancelling from inside any method is legal.
public protocol DataLoaderDelegate: AnyObject, Sendable {
    /// The load ended with a whole response of status 200 to 299.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse)

    /// The load ended otherwise; `response.error` says why.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse)

    /// The load was cancelled; default: nothing.
    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest)

    /// Whether the methods for chunks are implemented; default false.
    ///
    /// Asked for each load with `chunks`; a load that hears false ends `.chunksNotSupported`.
    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool

    /// The head of a response whose chunks follow; default: nothing.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse)

    /// The next piece of the body; default: nothing.
    ///
    /// While 256 KiB are not yet worked off, no more is read from the server.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse)

    /// A new stream for a body that can be read once and has to be sent again; default nil.
    ///
    /// nil ends the load with the outcome that it has. The stream must not be open.
    func dataLoader(
        _ dataLoader: DataLoader, needsNewBodyStreamFor request: DataLoaderRequest
    ) -> InputStream?

    /// The load has no connection and waits for one, as its request asked; default: nothing.
    func dataLoader(
        _ dataLoader: DataLoader, requestIsWaitingForConnectivity request: DataLoaderRequest)
}

extension DataLoaderDelegate {
    /// Does nothing.
    public func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}

    /// Says no.
    public func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { false }

    /// Does nothing.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {}

    /// Does nothing.
    public func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {}

    /// Has none.
    public func dataLoader(
        _ dataLoader: DataLoader, needsNewBodyStreamFor request: DataLoaderRequest
    ) -> InputStream? { nil }

    /// Does nothing.
    public func dataLoader(
        _ dataLoader: DataLoader, requestIsWaitingForConnectivity request: DataLoaderRequest
    ) {}
}
