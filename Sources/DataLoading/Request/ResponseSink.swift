// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The destination of the body of a successful response.
///
/// ```swift
/// request.responseSink = .file(destination)
/// ```
/// Only responses with a status of 200 to 299 reach a sink, and `response.body` is then nil for
/// every sink but `memory`. The body of any other status is in `response.body`, up to
/// `Limits.body`. Attempts that are retried, authorised again or redirected write nothing to a
/// sink.
///
/// Reading from the server pauses while 256 KiB wait for a sink. A sink that fails ends the load
/// `.responseSink`. A load with a sink other than `memory` has no total time limit unless its
/// request sets one. Loads in chunks ignore the sink.
public struct ResponseSink: Sendable, OpaquelyMirrored {
    enum Kind: Sendable {
        case memory
        case file(URL, synchronizes: Bool)
        case outputStream(@Sendable () throws -> OutputStream)
        case closure(@Sendable (Data) throws -> Void)
    }

    let kind: Kind
    /// The maximum number of decoded bytes; nil for no limit.
    ///
    /// A larger body ends the load `.bodyTooLarge`.
    let limit: Int64?

    /// Keeps the body in the response's `body`, up to `Limits.body`; the default.
    public static let memory = ResponseSink(kind: .memory, limit: nil)

    /// Writes the body to a local file, which appears only when the load succeeds.
    ///
    /// The library writes to a hidden file in the same directory, which must exist, and renames it
    /// when the body is complete. The rename replaces an existing file atomically. When the load
    /// does not succeed, the destination stays unchanged and the hidden file is removed. A load
    /// that is cancelled just after the rename leaves the complete file in place.
    ///
    /// A process that is killed leaves the hidden file, `.dataloading-*.part`. The next process
    /// removes it with its first load into that directory. A process holds a lock (`flock`) on each
    /// hidden file that it is writing.
    ///
    /// With `synchronizes` the bytes are on the disk, and not only in the system's cache, before
    /// the load succeeds (`fsync`).
    public static func file(
        _ url: URL, limit: Int64? = nil, synchronizes: Bool = false
    ) -> ResponseSink {
        ResponseSink(kind: .file(url, synchronizes: synchronizes), limit: limit)
    }

    /// Writes the body to a stream that `make` returns when a successful response begins.
    ///
    /// The library opens, writes and closes the stream on a background queue, where it calls `make`
    /// too; both may block. Bytes of a load that fails later are not taken back.
    public static func outputStream(
        limit: Int64? = nil, _ make: @escaping @Sendable () throws -> OutputStream
    ) -> ResponseSink {
        ResponseSink(kind: .outputStream(make), limit: limit)
    }

    /// Passes each piece of the body to a closure, on the delegate queue, one call at a time.
    ///
    /// The load ends when the closure throws. Pieces of a load that fails later are not taken back.
    public static func closure(
        limit: Int64? = nil, _ receive: @escaping @Sendable (Data) throws -> Void
    ) -> ResponseSink {
        ResponseSink(kind: .closure(receive), limit: limit)
    }

    /// Whether the body can be written again from its start.
    var isRestartable: Bool { if case .file = kind { true } else { false } }

    /// The destination file; nil for other sinks.
    var file: URL? { if case .file(let url, _) = kind { url } else { nil } }
}

extension ResponseSink: CustomStringConvertible {
    /// The kind, without the name of a file.
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

    /// The destination of the body of a successful response; default `.memory`.
    public var responseSink: ResponseSink {
        get { self[option: Sink.self] }
        set { self[option: Sink.self] = newValue }
    }
}
