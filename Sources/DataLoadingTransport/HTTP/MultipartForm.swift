// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// A form of fields and files, sent as `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.add("Holiday", for: "title")
/// form.add(file: photo, for: "photo", contentType: "image/jpeg")
/// request.body = .multipart(form)
/// ```
/// The transport opens files while it sends them, one at a time. When every file is a regular file,
/// the transport sends `Content-Length`; otherwise it sends the body chunked. Names and file names
/// are escaped as in the HTML standard (`%22`, `%0D`, `%0A`); other characters are sent unchanged.
public struct MultipartForm: Sendable, OpaquelyMirrored {
    /// One part of the form.
    package struct Part: Sendable {
        let name: String
        let filename: String?
        package let contentType: String?
        let content: Content

        enum Content: Sendable {
            case data(Data)
            case file(URL)
        }
    }

    package private(set) var parts: [Part] = []
    /// The delimiter between parts: 32 random letters and digits, so that no part contains it.
    let boundary: String

    /// Makes an empty form.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// Makes an empty form whose boundary comes from a given generator.
    package init(using generator: inout some RandomNumberGenerator) {
        let characters = Array(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let drawn = (0..<32).map { _ in
            characters[Int.random(in: characters.indices, using: &generator)]
        }
        boundary = String(decoding: drawn, as: UTF8.self)
    }

    /// Adds a field, with its value encoded as UTF-8.
    public mutating func add(_ value: String, for name: String) {
        add(Data(value.utf8), for: name)
    }

    /// Adds bytes; a file name makes the part a file upload to the server.
    public mutating func add(
        _ data: Data, for name: String, filename: String? = nil, contentType: String? = nil
    ) {
        parts.append(
            Part(name: name, filename: filename, contentType: contentType, content: .data(data)))
    }

    /// Adds a local file, under its own name unless `filename` is given.
    public mutating func add(
        file: URL, for name: String, filename: String? = nil,
        contentType: String = "application/octet-stream"
    ) {
        parts.append(
            Part(
                name: name, filename: filename ?? file.lastPathComponent,
                contentType: contentType, content: .file(file)))
    }

    /// The media type, with the boundary.
    var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

extension MultipartForm {
    /// A segment of the body: bytes, or the contents of a file.
    enum Segment: Sendable {
        case bytes(Data)
        case file(URL)
    }

    /// The segments of the whole body, in order.
    var segments: [Segment] {
        var segments: [Segment] = []
        for part in parts {
            segments.append(.bytes(Data("--\(boundary)\r\n\(part.head)\r\n".utf8)))
            switch part.content {
            case .data(let data): segments.append(.bytes(data))
            case .file(let url): segments.append(.file(url))
            }
            segments.append(.bytes(Data("\r\n".utf8)))
        }
        segments.append(.bytes(Data("--\(boundary)--\r\n".utf8)))
        return segments
    }
}

extension MultipartForm: CustomStringConvertible {
    /// The number of parts, without their contents.
    public var description: String { "form of \(parts.count) parts" }
}

extension MultipartForm.Part {
    /// The header lines of the part.
    fileprivate var head: String {
        var head = "Content-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let filename { head += "; filename=\"\(Self.escaped(filename))\"" }
        head += "\r\n"
        if let contentType { head += "Content-Type: \(contentType)\r\n" }
        return head
    }

    /// Escapes byte by byte, because CR LF is a single `Character` that equals neither CR nor LF.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "%22".utf8
            case UInt8(ascii: "\r"): bytes += "%0D".utf8
            case UInt8(ascii: "\n"): bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
