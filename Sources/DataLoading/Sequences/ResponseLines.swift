// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The lines of a response body as a sequence, read from the server as fast as they are read.
///
/// ```swift
/// for try await line in loader.lines(for: request) {
///     print(line)
/// }
/// ```
/// LF and CR LF end a line; a CR elsewhere is a part of it. A last line without an end is returned
/// too, and empty lines are returned. A byte order mark at the start is dropped. Bytes that are not
/// UTF-8 become U+FFFD.
///
/// Each iterator is a separate load, and cancels it when the iterator is dropped. Reading from the
/// server pauses while 256 KiB are unread, as with `DataChunks`. After an error the iterator
/// returns nil.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String

    let request: DataLoaderRequest
    let core: LoaderCore
    let maxLineLength: Int

    /// Makes an iterator, whose load starts at its first call.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            reader: LineReader(of: request, core: core, maxLineLength: maxLineLength))
    }

    /// Reads the lines of one load.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        var reader: LineReader
        init(reader: LineReader) {
            self.reader = reader
        }

        /// Returns the next line; nil after the last one.
        ///
        /// - Throws: `DataLoaderError` when the status is not 200 to 299 or the body is incomplete;
        ///   `StreamError.lineTooLong`.
        @inlinable public mutating func next() async throws -> String? {
            try await next(isolation: #isolation)
        }

        /// Returns the next line without leaving the caller's actor, as `for try await` does.
        ///
        /// - Throws: As `next()` does.
        @inlinable public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> String? {
            // Without a call that may suspend, which takes as long as making the string.
            if let line = try lineThere() { return line }
            return try await lineToCome(isolation: actor)
        }

        /// Returns the next line if it is there; nil when it must be waited for.
        @usableFromInline mutating func lineThere() throws -> String? {
            try reader.nextThere(Self.string)
        }

        @usableFromInline mutating func lineToCome(
            isolation actor: isolated (any Actor)?
        ) async throws -> String? {
            try await reader.next(isolation: actor, Self.string)
        }

        private static func string(_ line: UnsafeRawBufferPointer) -> String {
            String(decoding: line, as: UTF8.self)
        }
    }
}
