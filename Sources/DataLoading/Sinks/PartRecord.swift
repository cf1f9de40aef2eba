// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// What a part is the beginning of, as a file beside it says in JSON.
///
/// It names no URL, because a query may have secrets. The number of bytes is the length of the part
/// itself, so a record that is there is true at any moment of a download.
struct PartRecord: Codable, Hashable, Sendable {
    /// The maximum size of the file; the longest validator that is recorded is half of it.
    static let maxSize = 4_096
    private static let format = 1
    /// The fields of a request that belong to its digest.
    private static let choosingFields = ["Accept", "Accept-Encoding", "Accept-Language"]

    private(set) var version = Self.format
    /// The digest of the request.
    let request: String
    /// The digest of the URL that answered, after redirects.
    let url: String
    let validator: StrongValidator
    /// The length of the whole body; nil when the server did not tell.
    let length: Int64?
    /// The time between two starts of the machine; bytes of an earlier one may not have reached the
    /// disk.
    let boot: String?

    /// Makes the record of a response; nil when no range can continue it.
    ///
    /// A range would hide that a piece before it is lost.
    init?(of response: DataLoaderResponse, request: String) {
        let head = ResponseHead(
            status: response.statusCode ?? .noContent, headers: response.headers)
        guard !response.mayLackPieces, head.status == .ok,
            !head.headers.contains("Content-Encoding"),
            head.headers["Accept-Ranges"]?.equalsIgnoringASCIICase("none") != true,
            let validator = StrongValidator(of: head.headers),
            Self.identifies(validator, head.headers),
            validator.text.utf8.count <= Self.maxSize / 2, let url = response.resolvedURL
        else { return nil }
        self.request = request
        self.url = Self.digest(of: url)
        self.validator = validator
        length = head.bodyLength
        boot = BootIdentity.current
    }

    /// Reads a record; nil for data that is none.
    init?(_ data: Data) {
        guard data.count <= Self.maxSize,
            let record = try? JSONDecoder().decode(Self.self, from: data),
            record.version == Self.format, record.validator.isWellFormed
        else { return nil }
        self = record
    }

    /// Whether what the part has was written since the machine has started.
    var isOfThisBoot: Bool { boot != nil && boot == BootIdentity.current }

    /// Identifies a request among those that are loaded to the same file.
    ///
    /// A date as validator may be the same for several representations of a URL, so the fields that
    /// choose one of them belong to it. Credentials do not: a token may be renewed between two loads.
    /// A part of a file with another hash is of no use.
    static func digest(of request: DataLoaderRequest) -> String {
        var text = digest(of: request.url)
        for name in choosingFields {
            text += "\n\(name): \(request.headers[name] ?? "")"
        }
        if case .file(_, let options) = request.responseSink.kind, let hash = options.sha256 {
            text += "\nsha256: \(hash.asciiLowercased)"
        }
        return SHA256.hex(SHA256.hash(text.utf8))
    }

    /// Whether a validator and the digest of its request have one representation.
    ///
    /// Each has a tag of its own (RFC 9110 section 8.8.3). A date they may share, and then the
    /// fields that have chosen one of them must be those of the digest (section 12.5.5).
    private static func identifies(_ validator: StrongValidator, _ headers: HTTPHeaders) -> Bool {
        guard case .lastModified = validator else { return true }
        return headers.values(for: "Vary").flatMap { $0.split(separator: ",") }.allSatisfy { part in
            let name = part.trimmingCharacters(in: .whitespaces)
            return name.isEmpty || choosingFields.contains { $0.equalsIgnoringASCIICase(name) }
        }
    }

    /// The digest of a URL without its fragment, which is not sent.
    static func digest(of url: URL) -> String {
        SHA256.hex(SHA256.hash(url.absoluteString.prefix { $0 != "#" }.utf8))
    }
}
