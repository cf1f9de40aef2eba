// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Resolution of a reference against a URL, by RFC 3986 section 5.2, without touching any escape.
enum ReferenceResolution {
    /// Returns the text of the URL that a reference means; it may be no URL that can be loaded.
    static func resolve(_ reference: String, against base: RequestTarget) -> String {
        let reference = String(reference.prefix { $0 != "#" })
        if hasScheme(reference) { return reference }
        let scheme = base.origin.isSecure ? "https:" : "http:"
        if reference.hasPrefix("//") { return scheme + reference }

        let basePath = base.pathAndQuery.prefix { $0 != "?" }
        let split = reference.firstIndex(of: "?") ?? reference.endIndex
        let path = reference[..<split]
        var query = String(reference[split...])
        let merged: String
        if path.isEmpty {
            merged = String(basePath)
            if query.isEmpty { query = String(base.pathAndQuery.dropFirst(basePath.count)) }
        } else if path.hasPrefix("/") {
            merged = removingDotSegments(path)
        } else {
            let end = basePath.lastIndex(of: "/") ?? basePath.startIndex
            let directory = basePath.prefix(through: end)
            merged = removingDotSegments(directory + path)
        }
        let origin = base.origin
        return "\(scheme)//\(origin.host):\(origin.port)\(merged)\(query)"
    }

    /// Whether it starts with `scheme:`, ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ).
    private static func hasScheme(_ reference: String) -> Bool {
        guard let first = reference.utf8.first, (0x61...0x7A).contains(first.asciiLowercased),
            let end = reference.utf8.firstIndex(where: {
                !(0x61...0x7A).contains($0.asciiLowercased) && !$0.isDigit
                    && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".")
            })
        else { return false }
        return reference.utf8[end] == UInt8(ascii: ":")
    }

    /// RFC 3986 section 5.2.4.
    private static func removingDotSegments(_ path: some StringProtocol) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default:
                kept.append(Substring(segment))
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
