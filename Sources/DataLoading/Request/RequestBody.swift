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
    /// Bytes in memory with their media type, which is sent unless the request has a `Content-Type`.
    case encoded(Data, contentType: String)
    /// The contents of a local file, read while it is sent, never whole in memory.
    ///
    /// A file that cannot be read, or that changes while it is sent, ends the load `.requestBody`, as
    /// does a pipe that gives no byte within the connect limit.
    case file(URL)
    /// Fields and files as `multipart/form-data`, which is sent unless the request has a
    /// `Content-Type`; files are read as for `file`.
    case multipart(MultipartForm)
    /// A stream made anew for each attempt; `length` in bytes, nil to send it chunked.
    ///
    /// `provider` is called on a background queue; what it throws ends the load, as does a stream that
    /// gives no byte within the connect limit. While 64 streams of a transport block, further ones end
    /// their loads `.resources`.
    case stream(length: Int64? = nil, provider: @Sendable () throws -> InputStream)
    /// A stream that can be read once; `length` in bytes, nil to send it chunked.
    case oneShot(OneShotStream, length: Int64? = nil)

    /// The bytes of a body that is in memory.
    package var bytes: Data? {
        switch self {
        case .data(let data), .encoded(let data, _): data
        case .file, .multipart, .stream, .oneShot: nil
        }
    }

    /// The media type that the body knows it has.
    var contentType: String? {
        switch self {
        case .encoded(_, let type): type
        case .multipart(let form): form.contentType
        case .data, .file, .stream, .oneShot: nil
        }
    }
}

extension RequestBody {
    /// Fields as `application/x-www-form-urlencoded`, in order.
    ///
    /// Encoded as the URL standard has it: a space is `+`, and all but letters, digits and `*-._`
    /// is escaped byte by byte.
    public static func form(_ fields: KeyValuePairs<String, String>) -> RequestBody {
        encodedForm(fields.map { ($0.key, $0.value) })
    }

    /// Fields as `application/x-www-form-urlencoded`, for those that are put together at run time.
    public static func form(_ fields: [(name: String, value: String)]) -> RequestBody {
        encodedForm(fields.map { ($0.name, $0.value) })
    }

    /// A value as `application/json`.
    ///
    /// - Throws: What the encoder throws.
    public static func json(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws -> RequestBody {
        .encoded(try encoder.encode(value), contentType: "application/json")
    }

    private static func encodedForm(_ fields: [(String, String)]) -> RequestBody {
        .encoded(FormEncoding.encode(fields), contentType: "application/x-www-form-urlencoded")
    }
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
            case .encoded(let data, _): ("encoded", Int64(data.count))
            case .file: ("file", nil)
            case .multipart: ("multipart", nil)
            case .stream(let length, _): ("stream", length)
            case .oneShot(_, let length): ("oneShot", length)
            }
        return kind + (length.map { " of \($0) bytes" } ?? "")
    }
}
