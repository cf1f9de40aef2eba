// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads the lines of one load.
struct LineReader: Sendable {
    private let maxLineLength: Int
    private var splitter: LineSplitter
    /// Nil once the last line was returned or an error thrown; releasing it cancels the load.
    private var body: SuccessfulBody?

    init(of request: DataLoaderRequest, core: LoaderCore, maxLineLength: Int) {
        self.maxLineLength = maxLineLength
        splitter = LineSplitter(ends: .lineFeed, maxLength: maxLineLength)
        body = SuccessfulBody(of: request, core: core)
    }

    /// The number of the line that was read last, from 1.
    var number: Int { splitter.count }

    /// Returns the next line as `make` makes it, if it is there; nil when it must be waited for.
    mutating func nextThere<Line>(
        _ make: (UnsafeRawBufferPointer) throws -> Line
    ) throws -> Line? {
        do {
            return try splitter.next(make)
        } catch {
            throw end(error)
        }
    }

    /// Returns the next line as `make` makes it; suspends only when a piece of the body is needed.
    mutating func next<Line>(
        isolation actor: isolated (any Actor)?, _ make: (UnsafeRawBufferPointer) throws -> Line
    ) async throws -> Line? {
        do {
            while body != nil {
                if let line = try splitter.next(make) { return line }
                guard let piece = try await body?.next(isolation: actor) else {
                    body = nil
                    return try splitter.finish(make)
                }
                splitter.add(piece)
            }
            return nil
        } catch {
            throw end(error)
        }
    }

    /// Cancels the load; returns the error that the caller is to see.
    private mutating func end(_ error: any Error) -> any Error {
        body = nil
        splitter.add(Data())
        guard let error = error as? LineSplitter.TooLong else { return error }
        return StreamError.lineTooLong(number: error.number, limit: maxLineLength)
    }
}
