// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text as a page may show it, in at most so many bytes.
    ///
    /// Characters that control a terminal, end a line or reverse the direction of text become "?";
    /// a text that is too long ends in "…".
    func shown(maxBytes: Int) -> String {
        let isShort = utf8.count <= maxBytes
        if isShort, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        var result = ""
        let room = isShort ? maxBytes : max(0, maxBytes - Self.ellipsis.utf8.count)
        for scalar in unicodeScalars {
            let shown = scalar.isShown ? scalar : "?"
            guard result.utf8.count + UTF8.width(shown) <= room else { break }
            result.unicodeScalars.append(shown)
        }
        return isShort ? result : result + Self.ellipsis
    }

    private static var ellipsis: String { "…" }
}
