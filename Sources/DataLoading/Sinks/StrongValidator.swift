// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// A field value that no two representations of a resource share, for `If-Range` (RFC 9110 section
/// 13.1.5).
enum StrongValidator: Codable, Hashable, Sendable {
    case entityTag(String)
    case lastModified(String)

    /// Finds the validator of a response; nil when it has none that is strong.
    init?(of headers: HTTPHeaders) {
        let tags = headers.values(for: "ETag")
        if let tag = tags.first {
            // A weak tag may be the same for several representations.
            guard tags.count == 1, Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
            return
        }
        let modified = headers.values(for: "Last-Modified")
        guard modified.count == 1, let last = HTTPDate.secondsSince1970(modified[0][...], now: 0),
            let sent = headers.values(for: "Date").first.flatMap({
                HTTPDate.secondsSince1970($0[...], now: 0)
            })
        else { return nil }
        // RFC 9110 section 8.8.2.2 requires a second and clocks that agree; a minute, as in RFC
        // 7232, covers clocks that do not agree.
        guard sent.subtractingReportingOverflow(last).partialValue >= 60 else { return nil }
        self = .lastModified(modified[0])
    }

    /// The value of `If-Range`.
    var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }

    /// Whether a response is of the same representation.
    func matches(_ headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let tag): headers.values(for: "ETag").hasSameBytes(as: [tag])
        case .lastModified(let date): headers.values(for: "Last-Modified") == [date]
        }
    }

    /// Whether the text may be sent, of a validator that was read from a file.
    var isWellFormed: Bool {
        switch self {
        case .entityTag(let tag): Self.isStrong(tag)
        case .lastModified(let date):
            HTTPDate.secondsSince1970(date[...], now: 0) != nil
                && date.utf8.allSatisfy(\.isFieldValueByte)
        }
    }

    /// Whether an entity tag is in quotes, without `W/` (RFC 9110 section 8.8.3).
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"")
        else { return false }
        return bytes[1..<(bytes.count - 1)].allSatisfy { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
    }
}
