// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The body of a request.
///
/// The load sends a body again when a retry, a fallback address or a redirect that keeps the method
/// needs it. All bodies but `oneShot` can be sent again. For a `oneShot` the loader asks the
/// delegate for another stream, if the load was started by `perform`. Without another stream the
/// load ends with the outcome that it has.
public enum RequestBody: Sendable, OpaquelyMirrored {
    /// Bytes in memory.
    case data(Data)
    /// Bytes in memory with their media type.
    ///
    /// The media type is sent unless the request has a `Content-Type`.
    case encoded(Data, contentType: String)
    /// The contents of a local file, read in pieces while they are sent.
    ///
    /// The load ends `.requestBody` when the file cannot be read, when it changes while it is sent,
    /// or when it is a pipe that gives no byte within the connect limit.
    case file(URL)
    /// Fields and files as `multipart/form-data`.
    ///
    /// The media type is sent unless the request has a `Content-Type`. Files are read as for
    /// `file`.
    case multipart(MultipartForm)
    /// A stream that is made for each attempt; `length` in bytes, nil to send the body chunked.
    ///
    /// `provider` is called on a background queue. The load ends when it throws, and when the
    /// stream gives no byte within the connect limit. While 64 streams of a transport block, loads
    /// with further streams end `.resources`.
    case stream(length: Int64? = nil, provider: @Sendable () throws -> InputStream)
    /// A stream that can be read once; `length` in bytes, nil to send the body chunked.
    case oneShot(OneShotStream, length: Int64? = nil)

    /// The bytes of a body in memory; nil for other bodies.
    package var bytes: Data? {
        switch self {
        case .data(let data), .encoded(let data, _): data
        case .file, .multipart, .stream, .oneShot: nil
        }
    }

    /// The media type that the body declares.
    package var contentType: String? {
        switch self {
        case .encoded(_, let type): type
        case .multipart(let form): form.contentType
        case .data, .file, .stream, .oneShot: nil
        }
    }
}

extension RequestBody {
    /// Encodes fields as `application/x-www-form-urlencoded`, in order.
    ///
    /// The encoding is that of the URL standard: a space becomes `+`, and every byte other than
    /// letters, digits and `*-._` is escaped.
    public static func form(_ fields: KeyValuePairs<String, String>) -> RequestBody {
        encodedForm(fields.map { ($0.key, $0.value) })
    }

    /// Encodes fields that are built at run time as `application/x-www-form-urlencoded`, in order.
    public static func form(_ fields: [(name: String, value: String)]) -> RequestBody {
        encodedForm(fields.map { ($0.name, $0.value) })
    }

    /// Encodes a value as `application/json`.
    ///
    /// - Throws: The error of the encoder.
    public static func json(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws -> RequestBody {
        .encoded(try encoder.encode(value), contentType: "application/json")
    }

    private static func encodedForm(_ fields: [(String, String)]) -> RequestBody {
        .encoded(FormEncoding.encode(fields), contentType: "application/x-www-form-urlencoded")
    }
}

/// An input stream that only the first attempt receives.
public final class OneShotStream: Sendable {
    private let stream: Locked<InputStream?>

    /// Takes ownership of a stream, which must not be open and must not be used elsewhere.
    public init(_ stream: sending InputStream) {
        self.stream = Locked(stream)
    }

    /// Whether the stream was taken.
    package var isTaken: Bool { stream.withLock { $0 == nil } }

    /// Returns the stream on the first call, and nil afterwards.
    package func take() -> InputStream? {
        stream.withLock { held in
            let taken = held
            held = nil
            return taken
        }
    }
}

extension RequestBody: CustomStringConvertible {
    /// The kind and the length, without bytes or file names.
    public var description: String {
        let (kind, length): (String, Int64?) =
            switch self {
            case .data(let data): ("data", Int64(data.count))
            case .encoded(let data, _): ("encoded", Int64(data.count))
            case .file: ("file", nil)
            case .multipart: ("multipart", nil)
            case .stream(let length, _): ("stream", length)
            case .oneShot(_, let length): ("oneShot", length)
            }
        return kind + (length.map { " of \($0) bytes" } ?? "")
    }
}
