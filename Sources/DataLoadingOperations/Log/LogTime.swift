// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A wall time in UTC, to the millisecond, in the form of RFC 3339.
struct LogTime {
    private let milliseconds: Int64

    /// Takes a date; one outside of the years 0 to 9999 gives the first or last second of them.
    init(_ date: Date) {
        // Rounded, because most fractions of a `Date` are a little less than what was meant.
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        // Beyond all years that are shown, and within `Int64`.
        milliseconds = Int64(exactly: min(max(rounded, -1e15), 1e15)) ?? 0
    }

    /// The second that it is in, since the Unix epoch.
    var second: Int64 { split.second }

    private var split: (second: Int64, milliseconds: Int64) {
        let (second, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return rest < 0 ? (second - 1, rest + 1_000) : (second, rest)
    }

    /// Appends it, as `2026-01-01T00:00:00.000Z`.
    func append(to bytes: inout some ByteSink) {
        appendSecond(to: &bytes)
        appendFraction(to: &bytes)
    }

    /// Appends the date and the time to the second, without "Z".
    func appendSecond(to bytes: inout some ByteSink) {
        let date = CivilDate(secondsSince1970: second)
        bytes.appendDecimal(date.year, digits: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDecimal(date.month, digits: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendDecimal(date.day, digits: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.appendDecimal(date.secondOfDay / 3_600, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDecimal(date.secondOfDay / 60 % 60, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDecimal(date.secondOfDay % 60, digits: 2)
    }

    /// Appends the milliseconds, and "Z".
    func appendFraction(to bytes: inout some ByteSink) {
        bytes.append(UInt8(ascii: "."))
        bytes.appendDecimal(split.milliseconds, digits: 3)
        bytes.append(UInt8(ascii: "Z"))
    }
}
