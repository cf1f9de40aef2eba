// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A response body as a sequence of pieces, read from the server as fast as the pieces are read.
///
/// ```swift
/// var size = 0
/// for try await chunk in loader.chunks(for: request) {
///     size += chunk.count
/// }
/// ```
/// Reading from the server pauses while 256 KiB are unread. When the status is not 200 to 299, the
/// iterator throws `DataLoaderError.status` after the last piece. `Iterator.response()` returns the
/// status before the first piece.
///
/// Each iterator is a separate load, and cancels it when the iterator is dropped. The sequence does
/// not retain its loader: it can be read when the loader is dropped, whose other loads end then.
public struct DataChunks: AsyncSequence, Sendable {
    /// A piece of the decoded body; never empty.
    public typealias Element = Data

    let request: DataLoaderRequest
    let core: LoaderCore

    /// Makes an iterator, whose load starts at its first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ChunkReader(request: request, core: core))
    }

    /// Reads the body of one load.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let reader: ChunkReader

        /// Returns the head of the response, before any piece of the body is read.
        ///
        /// - Throws: `DataLoaderError` when the load ended without a head.
        public func response() async throws -> DataLoaderResponse {
            try await reader.response()
        }

        /// Returns the next piece; nil after the last one.
        ///
        /// - Throws: `DataLoaderError` when the body is incomplete, or belongs to an error status.
        public func next() async throws -> Data? {
            try await reader.next()
        }

        /// Returns the next piece without leaving the caller's actor, as `for try await` does.
        ///
        /// - Throws: As `next()` does.
        public func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try await reader.next()
        }
    }
}
