// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Where the body of a successful response goes; `response.body` is nil for all but `memory`.
///
/// ```swift
/// request.responseSink = .file(destination)
/// ```
/// Only a status of 200 to 299 reaches a sink, and nothing of an attempt that is retried, authorised
/// again or redirected. The body of any other status comes in `response.body`, up to `Limits.body`.
///
/// At most 256 KiB wait for a sink; then the server has to wait. A sink that fails ends the load
/// `.responseSink`. Unless its request sets one, a load with a sink has no total time limit. Loads in
/// chunks have the chunks for a sink, and use no other.
public struct ResponseSink: Sendable {
    enum Kind: Sendable {
        case memory
        case file(URL, synchronizes: Bool)
        case outputStream(@Sendable () throws -> OutputStream)
        case closure(@Sendable (Data) throws -> Void)
    }

    let kind: Kind
    /// The most decoded bytes, nil for any number; more end the load `.bodyTooLarge`.
    let limit: Int64?

    /// The response's `body`, up to `Limits.body`; the default.
    public static let memory = ResponseSink(kind: .memory, limit: nil)

    /// A local file, which is there when the load succeeds, and otherwise as it was before.
    ///
    /// The body is written beside it, to a hidden file in the same directory, which must exist, and
    /// put in its place when it is whole; an existing file is replaced in one step. The hidden file
    /// is removed however the load ends. A load that is cancelled just when its file was put in place
    /// leaves it there, whole. A process that is killed leaves the hidden file, `.dataloading-*.part`,
    /// which the next process removes with its first load into that directory; it holds a lock
    /// (`flock`) on those that it writes.
    ///
    /// With `synchronizes` the bytes are on the disk, and not only in the system's memory, before the
    /// load succeeds (`fsync`).
    public static func file(
        _ url: URL, limit: Int64? = nil, synchronizes: Bool = false
    ) -> ResponseSink {
        ResponseSink(kind: .file(url, synchronizes: synchronizes), limit: limit)
    }

    /// A stream that is made when a successful response begins, opened, written to and closed.
    ///
    /// Bytes of a load that fails later are not taken back. Called and written to on a background
    /// queue, which the stream may block.
    public static func outputStream(
        limit: Int64? = nil, _ make: @escaping @Sendable () throws -> OutputStream
    ) -> ResponseSink {
        ResponseSink(kind: .outputStream(make), limit: limit)
    }

    /// A closure that is called with each piece, on the delegate queue, one call at a time.
    ///
    /// What it throws ends the load. Pieces of a load that fails later are not taken back.
    public static func closure(
        limit: Int64? = nil, _ receive: @escaping @Sendable (Data) throws -> Void
    ) -> ResponseSink {
        ResponseSink(kind: .closure(receive), limit: limit)
    }

    /// Whether the body can be written from its start again.
    var isRestartable: Bool { if case .file = kind { true } else { false } }

    /// The file that the body goes to.
    var file: URL? { if case .file(let url, _) = kind { url } else { nil } }
}

extension ResponseSink: CustomStringConvertible {
    /// The kind; not the name of a file.
    public var description: String {
        switch kind {
        case .memory: "memory"
        case .file: "file"
        case .outputStream: "outputStream"
        case .closure: "closure"
        }
    }
}

extension DataLoaderRequest {
    private enum Sink: RequestOption {
        static let defaultValue = ResponseSink.memory
        static var staysWithOrigin: Bool { false }
    }

    /// Where the body of a successful response goes; default `.memory`.
    public var responseSink: ResponseSink {
        get { self[option: Sink.self] }
        set { self[option: Sink.self] = newValue }
    }
}
