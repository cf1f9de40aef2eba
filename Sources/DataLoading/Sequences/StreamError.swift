// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The reason why a sequence stopped reading a body that arrived without an error.
///
/// The load is cancelled. Later versions may add cases: a `switch` outside the package needs
/// `@unknown default`.
@nonexhaustive public enum StreamError: Error, Hashable, Sendable {
    /// A line is longer than `limit` bytes; lines are numbered from 1.
    case lineTooLong(number: Int, limit: Int)
    /// An event, or one of its lines, is longer than `limit` bytes.
    case eventTooLong(limit: Int)
    /// The response is not an event stream: its content type is not `text/event-stream`.
    case notAnEventStream(contentType: String?)
}

extension StreamError: CustomStringConvertible {
    private static let maxShown = 100

    /// The reason in words.
    public var description: String {
        switch self {
        case .lineTooLong(let number, let limit): "line \(number) is longer than \(limit) bytes"
        case .eventTooLong(let limit): "an event is longer than \(limit) bytes"
        case .notAnEventStream(nil): "the response has no content type, not text/event-stream"
        case .notAnEventStream(let type?):
            "the content type is \(Self.shown(type)), not text/event-stream"
        }
    }

    /// A server's text, short and without what controls a terminal or ends a line.
    private static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(maxShown).map { scalar -> Unicode.Scalar in
            (0x20..<0x7F).contains(scalar.value) ? scalar : "?"
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
