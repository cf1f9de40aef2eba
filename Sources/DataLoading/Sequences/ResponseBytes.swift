// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The bytes of a response body as a sequence, read from the server as fast as they are read.
///
/// ```swift
/// for try await byte in loader.bytes(for: request) {
///     checksum = checksum &* 31 &+ UInt32(byte)
/// }
/// ```
/// Each iterator is a separate load, and cancels it when the iterator is dropped. Reading from the
/// server pauses while 256 KiB are unread, as with `DataChunks`, which is faster for code that can
/// use many bytes at a time. After an error the iterator returns nil.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// A byte of the decoded body.
    public typealias Element = UInt8

    let request: DataLoaderRequest
    let core: LoaderCore

    /// Makes an iterator, whose load starts at its first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body: SuccessfulBody(of: request, core: core))
    }

    /// Reads the bytes of one load.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        /// Nil once the last byte was returned or an error thrown; releasing it cancels the load.
        var body: SuccessfulBody?
        @usableFromInline var piece: [UInt8] = []
        @usableFromInline var position = 0

        init(body: SuccessfulBody) {
            self.body = body
        }

        /// Returns the next byte; nil after the last one.
        ///
        /// - Throws: `DataLoaderError` when the status is not 200 to 299 or the body is incomplete.
        @inlinable public mutating func next() async throws -> UInt8? {
            try await next(isolation: #isolation)
        }

        /// Returns the next byte without leaving the caller's actor, as `for try await` does.
        ///
        /// - Throws: As `next()` does.
        @inlinable public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> UInt8? {
            if position == piece.count {
                guard try await takePiece(isolation: actor) else { return nil }
            }
            defer { position += 1 }
            return piece[position]
        }

        /// Takes the next piece of the body, which is not empty; false after the last one.
        @usableFromInline mutating func takePiece(
            isolation actor: isolated (any Actor)?
        ) async throws -> Bool {
            piece = []
            position = 0
            do {
                // A transport may hand over pieces without bytes.
                while piece.isEmpty {
                    guard let next = try await body?.next(isolation: actor) else {
                        body = nil
                        return false
                    }
                    piece = Array(next)
                }
                return true
            } catch {
                body = nil
                throw error
            }
        }
    }
}
