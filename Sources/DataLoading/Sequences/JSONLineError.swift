// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// The error of a line that cannot be decoded.
public struct JSONLineError: Error, Sendable, OpaquelyMirrored {
    /// The number of the line, from 1; empty lines count.
    public let line: Int
    /// The error of the decoder.
    public let underlyingError: any Error

    /// Makes an error.
    public init(line: Int, underlyingError: any Error) {
        self.line = line
        self.underlyingError = underlyingError
    }
}

extension JSONLineError: CustomStringConvertible {
    /// The line and the type of the decoder's error, whose own description may have a part of the
    /// body.
    public var description: String {
        "line \(line) cannot be decoded: \(type(of: underlyingError))"
    }
}
