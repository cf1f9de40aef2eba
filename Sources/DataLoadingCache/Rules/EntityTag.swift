// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// An entity tag (RFC 9110 section 8.8.3).
struct EntityTag: Hashable, Sendable {
    let isWeak: Bool
    /// The tag between its quotes.
    let opaque: String

    /// Reads a value that is one entity tag.
    init?(_ text: Substring) {
        var reader = ByteReader(text.trimmingBlanks)
        guard let tag = Self.take(&reader), reader.isAtEnd else { return nil }
        self = tag
    }

    private init(isWeak: Bool, opaque: String) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    /// The entity tags of a list, up to the first text that is none.
    static func list(_ text: String) -> [EntityTag] {
        var reader = ByteReader(text[...])
        var tags: [EntityTag] = []
        while true {
            _ = reader.take { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
            guard let tag = take(&reader) else { return tags }
            tags.append(tag)
        }
    }

    private static func take(_ reader: inout ByteReader) -> EntityTag? {
        let isWeak = reader.take("W/")
        guard reader.take("\"") else { return nil }
        let opaque = reader.take { $0 != UInt8(ascii: "\"") && $0 > 0x20 && $0 != 0x7F }
        return reader.take("\"") ? EntityTag(isWeak: isWeak, opaque: String(opaque)) : nil
    }
}
