// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The values of a body that has one JSON value on each line, read from the server as fast as they
/// are read.
///
/// ```swift
/// for try await price in loader.jsonLines(Price.self, for: request) {
///     print(price.product, price.cents)
/// }
/// ```
/// Lines end as those of `ResponseLines` do. Lines of nothing but spaces and tabs are skipped.
///
/// Each iterator is a separate load, and cancels it when the iterator is dropped. After an error the
/// iterator returns nil. To skip lines that do not decode, decode the lines of `lines(for:)`.
public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The value of a line.
    public typealias Element = Value

    let request: DataLoaderRequest
    let core: LoaderCore
    let decoder: JSONDecoder
    let maxLineLength: Int

    /// Makes an iterator, whose load starts at its first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            reader: LineReader(of: request, core: core, maxLineLength: maxLineLength),
            decoder: decoder)
    }

    /// Decodes the lines of one load.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        var reader: LineReader
        let decoder: JSONDecoder

        /// Returns the next value; nil after the last one.
        ///
        /// - Throws: `JSONLineError` when a line does not decode; otherwise as
        ///   `ResponseLines.Iterator.next()` does.
        public mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        /// Returns the next value without leaving the caller's actor, as `for try await` does.
        ///
        /// - Throws: As `next()` does.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            let decoder = decoder
            do {
                while let line = try await reader.next(
                    isolation: actor, { try Self.value(of: $0, decoder) })
                {
                    if let value = line { return value }
                }
                return nil
            } catch let error as Undecodable {
                throw JSONLineError(line: reader.number, underlyingError: error.error)
            }
        }

        private struct Undecodable: Error {
            let error: any Error
        }

        /// The value of a line; nil for a line that is blank.
        private static func value(
            of line: UnsafeRawBufferPointer, _ decoder: JSONDecoder
        ) throws -> Value? {
            guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
            else { return nil }
            do {
                return try decoder.decode(Value.self, from: Data(line))
            } catch {
                throw Undecodable(error: error)
            }
        }
    }
}
