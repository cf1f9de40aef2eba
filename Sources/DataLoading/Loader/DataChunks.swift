// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A response body, piece by piece: each piece is read from the server when it is wanted.
///
/// At most 256 KiB are held that nobody has asked for. A status that is not 200 to 299 is thrown as
/// `DataLoaderError.status` after the last piece; `Iterator.response` tells it before the first one.
/// Each iterator is a load of its own, and cancels it when it is dropped. The sequence keeps its loader,
/// and so does an iterator until its load is over.
public struct DataChunks: AsyncSequence, Sendable {
    /// A piece of the decoded body, never empty.
    public typealias Element = Data

    let request: DataLoaderRequest
    let loader: DataLoader

    /// Makes an iterator; its load starts with the first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ChunkReader(request: request, loader: loader))
    }

    /// Reads one load.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let reader: ChunkReader

        /// The head of the response, before any piece of it is read.
        ///
        /// - Throws: `DataLoaderError` when the load ended without one.
        public func response() async throws -> DataLoaderResponse {
            try await reader.response()
        }

        /// The next piece, nil after the last one.
        ///
        /// - Throws: `DataLoaderError` when the body is not whole, or belongs to an error status.
        public func next() async throws -> Data? {
            try await reader.next()
        }
    }
}
