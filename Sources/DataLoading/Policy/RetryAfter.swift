// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Reads from a response how long its server wants to be left alone.
///
/// What cannot be read counts as absent. Of several values the largest counts. Dates turn into
/// delays once, here; one in the past is no delay. Numbers without end saturate at 292 years: the
/// caller caps.
package enum RetryAfter {
    private static let longest = Duration.nanoseconds(Int64.max)

    /// What `Retry-After` asks for (RFC 9110 section 10.2.3): whole seconds or an HTTP date.
    package static func delay(in headers: HTTPHeaders, date: Date) -> Duration? {
        delay(from: headers.values(for: "Retry-After"), date: date)
    }

    /// What the values of `Retry-After` ask for.
    package static func delay(from values: [String], date: Date) -> Duration? {
        values.lazy.compactMap { delay(of: $0, date: date) }.max()
    }

    /// When `X-Rate-Limit-Reset` or `X-RateLimit-Reset` says that the quota is renewed.
    ///
    /// Its value is in seconds since 1970, a convention without a standard.
    package static func rateLimitReset(in headers: HTTPHeaders, date: Date) -> Duration? {
        headers.fields.lazy
            .filter { $0.isNamed("X-Rate-Limit-Reset") || $0.isNamed("X-RateLimit-Reset") }
            .compactMap { seconds(trimmed($0.value[...])).map { delay(until: $0, date: date) } }
            .max()
    }

    private static func delay(of value: String, date: Date) -> Duration? {
        // A list comes from fields that somebody joined; the comma after a day's name is none.
        var candidates: [Substring] = []
        for item in value.split(separator: ",", omittingEmptySubsequences: false) {
            if let last = candidates.last, HTTPDate.isDayName(trimmed(last)) {
                candidates[candidates.count - 1] = value[last.startIndex..<item.endIndex]
            } else {
                candidates.append(item)
            }
        }
        return candidates.lazy.compactMap { single(trimmed($0), date: date) }.max()
    }

    private static func single(_ text: Substring, date: Date) -> Duration? {
        if let seconds = seconds(text) {
            return min(longest, .seconds(seconds))
        }
        let now = Int64(min(max(-1e12, date.timeIntervalSince1970.rounded(.down)), 1e12))
        return HTTPDate.secondsSince1970(text, now: now).map { delay(until: $0, date: date) }
    }

    private static func delay(until seconds: Int64, date: Date) -> Duration {
        max(.zero, .saturating(seconds: Double(seconds) - date.timeIntervalSince1970))
    }

    /// Decimal digits and nothing else, saturated.
    private static func seconds(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text) ?? .max
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == 0x09 }
        let start = text.utf8.firstIndex { !isSpace($0) } ?? text.endIndex
        let end = text.utf8.lastIndex { !isSpace($0) }.map { text.utf8.index(after: $0) }
        return end.map { text[start..<$0] } ?? text[start..<start]
    }
}
