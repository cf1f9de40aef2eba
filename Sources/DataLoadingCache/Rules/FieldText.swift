// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

extension Duration {
    /// Reads delta-seconds (RFC 9111 section 1.2.2): more than 2³¹ counts as 2³¹.
    init?(deltaSeconds text: Substring) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        let limit: Int64 = 1 << 31
        let significant = text.drop { $0 == "0" }
        guard significant.utf8.count <= 10 else {
            self = .seconds(limit)
            return
        }
        self = .seconds(min(Int64(significant) ?? 0, limit))
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without blanks and tabs at both ends.
    var trimmingBlanks: Substring {
        var text = self[...]
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}

extension HTTPHeaders {
    /// The members of all fields of a name whose values are lists of tokens, in lower case.
    func tokens(of name: String) -> [String] {
        values(for: name).flatMap { $0.split(separator: ",") }
            .map { String($0.trimmingBlanks).asciiLowercased }
            .filter { !$0.isEmpty }
    }

    /// The seconds from 1970 to the date in a field; nil unless there is exactly one field and its
    /// value is a date.
    func date(of name: String, now: Int64) -> Int64? {
        let values = values(for: name)
        guard values.count == 1 else { return nil }
        return HTTPDate.secondsSince1970(values[0][...], now: now)
    }
}
