// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Parses the three forms of an HTTP date (RFC 9110 section 5.6.7), byte by byte.
///
/// The name of the day must be valid, but need not match the date. Parsing depends on no locale.
package enum HTTPDate {
    static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds from 1970 to the date; nil when the text is not a date.
    ///
    /// `now`, in the same seconds, decides the century of a two-digit year.
    package static func secondsSince1970(_ text: Substring, now: Int64) -> Int64? {
        var bytes = ByteReader(text)
        return (imfFixdate(bytes) ?? asctime(bytes) ?? rfc850(&bytes, now: now))?.secondsSince1970
    }

    /// Whether the text is the name of a day, which is followed by a comma in a date.
    package static func isDayName(_ text: Substring) -> Bool {
        var bytes = ByteReader(text)
        return (bytes.take(anyOf: longDays) ?? bytes.take(anyOf: days)) != nil && bytes.isAtEnd
    }

    // Sun, 06 Nov 1994 08:49:37 GMT
    private static func imfFixdate(_ text: ByteReader) -> CivilDate? {
        var text = text
        guard text.take(anyOf: days) != nil, text.take(", "),
            let day = text.takeNumber(digits: 2), text.take(" "),
            let month = text.take(anyOf: months), text.take(" "),
            let year = text.takeNumber(digits: 4), text.take(" "),
            let time = time(&text), text.take(" GMT"), text.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    // Sun Nov  6 08:49:37 1994
    private static func asctime(_ text: ByteReader) -> CivilDate? {
        var text = text
        guard text.take(anyOf: days) != nil, text.take(" "),
            let month = text.take(anyOf: months), text.take(" "),
            let day = text.take(" ") ? text.takeNumber(digits: 1) : text.takeNumber(digits: 2),
            text.take(" "), let time = time(&text), text.take(" "),
            let year = text.takeNumber(digits: 4), text.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    // Sunday, 06-Nov-94 08:49:37 GMT
    private static func rfc850(_ text: inout ByteReader, now: Int64) -> CivilDate? {
        guard text.take(anyOf: longDays) != nil, text.take(", "),
            let day = text.takeNumber(digits: 2), text.take("-"),
            let month = text.take(anyOf: months), text.take("-"),
            let digits = text.takeNumber(digits: 2), text.take(" "),
            let time = time(&text), text.take(" GMT"), text.isAtEnd
        else { return nil }
        // The latest matching year that is at most 50 years ahead.
        let limit = CivilDate(secondsSince1970: now)
        let latest = min(limit.year + 50, 9_999)
        let year = latest - (latest - digits) % 100
        guard year == limit.year + 50 else { return date(year, month, day, time) }
        let candidate = (Int64(month) + 1, day, time.hour * 3_600 + time.minute * 60 + time.second)
        let isTooFar = candidate > (limit.month, limit.day, limit.secondOfDay)
        return date(isTooFar ? year - 100 : year, month, day, time)
    }

    private typealias Time = (hour: Int64, minute: Int64, second: Int64)

    private static func time(_ text: inout ByteReader) -> Time? {
        guard let hour = text.takeNumber(digits: 2), text.take(":"),
            let minute = text.takeNumber(digits: 2), text.take(":"),
            let second = text.takeNumber(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func date(_ year: Int64, _ month: Int, _ day: Int64, _ time: Time) -> CivilDate?
    {
        CivilDate(
            year: year, month: Int64(month) + 1, day: day,
            hour: time.hour, minute: time.minute, second: time.second)
    }
}
