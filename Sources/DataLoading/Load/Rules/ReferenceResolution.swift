// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Resolves a reference against a URL (RFC 3986 section 5.2), without changing any escape.
enum ReferenceResolution {
    /// Returns the text of the URL that a reference means; the URL may be one that cannot be
    /// loaded.
    static func resolve(_ reference: String, against base: RequestTarget) -> String {
        let reference = Substring(reference.utf8.prefix { $0 != UInt8(ascii: "#") })
        let scheme = base.origin.isSecure ? "https:" : "http:"
        if let end = schemeEnd(reference) {
            return reference[..<end] + hierarchical(reference[end...])
        }
        if reference.utf8.starts(with: "//".utf8) { return scheme + hierarchical(reference) }

        let basePath = base.pathAndQuery.utf8.prefix { $0 != UInt8(ascii: "?") }
        let split = reference.utf8.firstIndex(of: UInt8(ascii: "?")) ?? reference.endIndex
        let path = reference[..<split]
        var query = String(reference[split...])
        let merged: String
        if path.isEmpty {
            merged = String(Substring(basePath))
            if query.isEmpty { query = String(base.pathAndQuery[basePath.endIndex...]) }
        } else if path.utf8.first == UInt8(ascii: "/") {
            merged = removingDotSegments(path)
        } else {
            let end = basePath.lastIndex(of: UInt8(ascii: "/")) ?? basePath.startIndex
            merged = removingDotSegments(Substring(basePath[...end]) + path)
        }
        let origin = base.origin
        return "\(scheme)//\(origin.host):\(origin.port)\(merged)\(query)"
    }

    /// Returns the text after a scheme, with no dot segments in its path where there is an
    /// authority.
    private static func hierarchical(_ rest: Substring) -> String {
        guard rest.utf8.starts(with: "//".utf8) else { return String(rest) }
        let isPathOrQuery = { (byte: UInt8) in
            byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
        }
        let pathStart = rest.utf8.dropFirst(2).firstIndex(where: isPathOrQuery) ?? rest.endIndex
        let split = rest.utf8[pathStart...].firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        guard pathStart < split else { return String(rest) }
        return rest[..<pathStart] + removingDotSegments(rest[pathStart..<split]) + rest[split...]
    }

    /// Returns the end of `scheme:`, which is ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) and a
    /// colon.
    private static func schemeEnd(_ reference: Substring) -> Substring.Index? {
        guard let first = reference.utf8.first, (0x61...0x7A).contains(first.asciiLowercased),
            let end = reference.utf8.firstIndex(where: {
                !(0x61...0x7A).contains($0.asciiLowercased) && !$0.isDigit
                    && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".")
            }), reference.utf8[end] == UInt8(ascii: ":")
        else { return nil }
        return reference.utf8.index(after: end)
    }

    /// Removes the dot segments of a path that starts with a slash (RFC 3986 section 5.2.4).
    private static func removingDotSegments(_ path: Substring) -> String {
        let segments = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).dropFirst()
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual(".".utf8) {
                if isLast { kept.append("") }
            } else if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append("") }
            } else {
                kept.append(Substring(segment))
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
