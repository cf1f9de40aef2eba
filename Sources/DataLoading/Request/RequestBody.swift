// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a request sends after its head.
///
/// A body that can be made again may be sent again, on a retry or for a redirect that keeps the
/// method. For a `oneShot` the delegate is asked for another stream; without one the load ends with
/// the outcome it has.
public enum RequestBody: Sendable {
    /// Bytes in memory.
    case data(Data)
    /// The contents of a local file, read while it is sent, never whole in memory.
    case file(URL)
    /// A stream made anew for each attempt; `length` in bytes, nil to send it chunked.
    ///
    /// `provider` is called on a background queue; what it throws ends the load.
    case stream(length: Int64? = nil, provider: @Sendable () throws -> InputStream)
    /// A stream that can be read once; `length` in bytes, nil to send it chunked.
    case oneShot(OneShotStream, length: Int64? = nil)
}

/// An input stream that is handed to the first attempt, and to no other.
public final class OneShotStream: Sendable {
    private let stream: Locked<InputStream?>

    /// Takes a stream over; it must not be open and nobody else may use it.
    public init(_ stream: sending InputStream) {
        self.stream = Locked(stream)
    }

    /// Whether somebody has the stream.
    package var isTaken: Bool { stream.withLock { $0 == nil } }

    /// Hands the stream over; nil ever after.
    package func take() -> InputStream? {
        stream.withLock { held in
            let taken = held
            held = nil
            return taken
        }
    }
}

extension RequestBody: CustomStringConvertible {
    /// The kind and the length; never a byte of it, nor the name of a file.
    public var description: String {
        let (kind, length): (String, Int64?) =
            switch self {
            case .data(let data): ("data", Int64(data.count))
            case .file: ("file", nil)
            case .stream(let length, _): ("stream", length)
            case .oneShot(_, let length): ("oneShot", length)
            }
        return kind + (length.map { " of \($0) bytes" } ?? "")
    }
}
