// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Reads from a response how long its server asks clients to wait.
///
/// An unreadable value counts as absent. Of several values the largest counts. Dates become delays
/// here; a date in the past is no delay. Numbers of any size saturate at 292 years; the caller
/// applies its own maximum.
enum RetryAfter {
    private static let longest = Duration.nanoseconds(Int64.max)

    /// The delay in `Retry-After` (RFC 9110 section 10.2.3): whole seconds or an HTTP date.
    static func delay(in headers: HTTPHeaders, date: Date) -> Duration? {
        delay(from: headers.values(for: "Retry-After"), date: date)
    }

    /// The delay in the fields of a response that arrives at a date of the local clock.
    ///
    /// A date is compared with the response's own `Date` (RFC 9110 section 6.6.1), where it has one: the
    /// local clock may be wrong, as before a machine has asked for the time. A cache on the way adds
    /// the response's `Age` to it (RFC 9111 section 5.1).
    static func delay(inArriving headers: HTTPHeaders, date: Date) -> Duration? {
        guard headers.contains("Retry-After") else { return nil }
        return delay(in: headers, date: serverDate(headers, date) ?? date)
    }

    private static func serverDate(_ headers: HTTPHeaders, _ date: Date) -> Date? {
        let now = secondsSince1970(date)
        guard let text = headers["Date"],
            let sent = HTTPDate.secondsSince1970(trimmed(text[...]), now: now)
        else { return nil }
        let age = headers["Age"].flatMap { seconds(trimmed($0[...])) } ?? 0
        return Date(timeIntervalSince1970: Double(sent) + Double(age))
    }

    private static func secondsSince1970(_ date: Date) -> Int64 {
        Int64(min(max(-1e12, date.timeIntervalSince1970.rounded(.down)), 1e12))
    }

    /// The delay in the values of `Retry-After`.
    static func delay(from values: [String], date: Date) -> Duration? {
        values.lazy.compactMap { delay(of: $0, date: date) }.max()
    }

    /// The delay until the quota renewal in `X-Rate-Limit-Reset` or `X-RateLimit-Reset`.
    ///
    /// The value is in seconds since 1970, a convention without a standard.
    static func rateLimitReset(in headers: HTTPHeaders, date: Date) -> Duration? {
        headers.fields.lazy
            .filter { $0.isNamed("X-Rate-Limit-Reset") || $0.isNamed("X-RateLimit-Reset") }
            .compactMap { seconds(trimmed($0.value[...])).map { delay(until: $0, date: date) } }
            .max()
    }

    private static func delay(of value: String, date: Date) -> Duration? {
        // Joined fields form a list. The comma after a day's name does not separate items.
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
        return HTTPDate.secondsSince1970(text, now: secondsSince1970(date))
            .map { delay(until: $0, date: date) }
    }

    private static func delay(until seconds: Int64, date: Date) -> Duration {
        max(.zero, .saturating(seconds: Double(seconds) - date.timeIntervalSince1970))
    }

    /// Parses decimal digits and nothing else; saturates.
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
