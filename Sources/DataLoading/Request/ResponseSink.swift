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
        case file(URL, FileOptions)
        case outputStream(@Sendable () throws -> OutputStream)
        case closure(@Sendable (Data) throws -> Void)
    }

    struct FileOptions: Sendable {
        var synchronizes = false
        /// Whether a later load may continue what this one leaves.
        var resumes = false
        /// The hexadecimal digits of the hash that the file must have; nil for any.
        var sha256: String?
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
    /// that is cancelled just after the rename leaves the complete file in place, and so does one whose
    /// interceptor refuses the response that it got for the body.
    ///
    /// A process that is killed leaves the hidden file, `.dataloading-*.part`. The next process
    /// removes it with its first load into that directory. A process holds a lock (`flock`) on each
    /// hidden file that it is writing.
    ///
    /// With `synchronizes` the bytes are on the disk, and not only in the system's cache, before
    /// the load succeeds (`fsync`).
    ///
    /// With `sha256`, the 64 hexadecimal digits of the hash that the file must have, another body
    /// ends the load `.digestMismatch`, and the destination stays unchanged. Other text ends the
    /// load `.invalidRequest(.setting(name: "responseSink"))` before anything is sent.
    ///
    /// With `resumesAcrossRestarts` a load that does not succeed leaves its part, and the next load
    /// of the same request to the same destination asks only for the rest, also after the process
    /// was killed. See <doc:Bodies> for the rules. It applies to a GET without a body and without
    /// a `Range` or `If-Range` of its own, asks for a body without a content coding, and
    /// synchronizes.
    public static func file(
        _ url: URL, limit: Int64? = nil, synchronizes: Bool = false,
        resumesAcrossRestarts: Bool = false, sha256: String? = nil
    ) -> ResponseSink {
        let options = FileOptions(
            synchronizes: synchronizes || resumesAcrossRestarts, resumes: resumesAcrossRestarts,
            sha256: sha256)
        return ResponseSink(kind: .file(url, options), limit: limit)
    }

    /// Writes the body to a stream that `make` returns when a successful response begins.
    ///
    /// The library opens, writes and closes the stream on a background queue, where it calls `make`
    /// too; both may block. A stream that takes no more, and what `make` throws, end the load
    /// `.responseSink(reason:)`. Bytes of a load that fails later are not taken back.
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

    /// Whether a part that a load leaves may be continued.
    var resumes: Bool { if case .file(_, let options) = kind { options.resumes } else { false } }

    /// Whether a setting has a value that it cannot have.
    var isMalformed: Bool {
        guard case .file(_, let options) = kind, let hash = options.sha256 else {
            return limit ?? 0 < 0
        }
        return limit ?? 0 < 0 || SHA256.hash(hex: hash) == nil
    }

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

    /// Whether the body goes to a file whose part a later load may continue.
    var resumesFile: Bool {
        responseSink.resumes && method == .get && body == nil && !headers.contains("Range")
            && !headers.contains("If-Range")
    }
}
