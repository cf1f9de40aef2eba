// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Receives the bodies of loads with `chunks` piece by piece, besides their outcomes.
///
/// A load with `chunks` whose loader has no such delegate ends `.chunksNotSupported`. The initial
/// response and the chunks come before the outcome, in order.
public protocol DataLoaderChunkDelegate: DataLoaderDelegate {
    /// Whether chunks are wanted now.
    ///
    /// The loader asks once for each load with `chunks`. When the answer is false, the load ends
    /// `.chunksNotSupported`.
    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool

    /// The head of a response arrived, and its chunks follow.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse)

    /// The next piece of the body arrived.
    ///
    /// Reading from the server pauses while 256 KiB are undelivered.
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse)
}
